"""What the dashboard service and the portal must do alike; imports neither of them."""
