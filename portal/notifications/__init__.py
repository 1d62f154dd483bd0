"""What members hear by e-mail, and when: new findings, regressions, notes."""
