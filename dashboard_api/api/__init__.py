"""The signed HTTP edge: from the bytes of a call to the bytes of its response."""
