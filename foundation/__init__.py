"""Shared code: whatever the dashboard service and the portal must do alike. It imports neither of them."""
