"""Adding a website: its claim, the proof of ownership, and the link (decision record 0106)."""
