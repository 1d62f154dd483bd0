"""The plan of an account: its state, limits and use, the plans to choose from, and its history."""
