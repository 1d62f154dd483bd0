"""Adding a website: the claim, the proof of ownership, and the link."""
