"""Files to download: a limit on concurrent downloads, and safe CSV cells."""
