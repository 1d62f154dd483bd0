"""The page with the rules of an account about answers to findings."""
