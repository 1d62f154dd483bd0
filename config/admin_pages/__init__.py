"""The admin's site, the groups of staff, and hooks that record what they do."""
