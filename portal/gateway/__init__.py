"""The only code that knows HTTP exists: asks the service, signed, and returns typed answers."""
