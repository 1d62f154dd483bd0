"""Code that the service and the portal share. It imports neither of them."""
