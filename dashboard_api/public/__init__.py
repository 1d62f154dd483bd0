"""Documents about all websites together: made beforehand, so that no stranger reaches a finding."""
