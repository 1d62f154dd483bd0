"""A new customer in one step: the accounts of the service and the portal, which only config knows both."""
