"""New customers: one step creates the accounts of the service and of the portal."""
