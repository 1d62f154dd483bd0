"""Adding a website: its claim, the proof of ownership, and the link."""
