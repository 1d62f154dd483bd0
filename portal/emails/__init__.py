"""E-mails: those to owners, and those whose button is a link."""
