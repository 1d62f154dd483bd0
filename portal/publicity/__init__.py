"""The page on which owners choose what may be published about their websites."""
