"""The website id of the data version that all websites share."""

EVERY_WEBSITE = 0
