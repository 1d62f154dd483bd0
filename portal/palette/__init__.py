"""The command palette, which finds any website or page of the member, and the list of keys."""
