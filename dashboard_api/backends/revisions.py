"""The website id of the revision that all websites share."""

EVERY_WEBSITE = 0
