"""E-mails to members about new findings, regressions and notes."""
