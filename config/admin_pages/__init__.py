"""The admin's site, the groups of staff, and what is on record of them."""
