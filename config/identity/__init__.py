"""People: sign-in, passwords, second factors, sessions and their own account."""
