"""The page where owners choose what may be published about their websites."""
