"""E-mails to owners, and e-mails about one link."""
