"""How a scan report becomes findings."""
