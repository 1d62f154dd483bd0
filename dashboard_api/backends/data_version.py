"""The row of the revisions that all websites share."""

EVERY_WEBSITE = 0
