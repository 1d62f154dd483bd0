"""The HTTP edge of ``/v1/``: turns the bytes of a call into the bytes of its response."""
