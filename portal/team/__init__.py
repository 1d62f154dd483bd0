"""The team of an account: members, roles and invitations (decision record 0018)."""
