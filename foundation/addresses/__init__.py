"""Names of hosts, domains and mail boxes, each in one form."""
