"""The palette: a dialog that leads to any website or page of the member, and the list of keys."""
