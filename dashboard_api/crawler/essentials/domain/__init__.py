"""The domain of a website in DNS: its own checks, and the records that they ask for."""
