"""The team of an account: members, roles and invitations."""
