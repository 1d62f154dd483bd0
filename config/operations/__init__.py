"""Running a deployment: settings, databases, checks, health, backups, keys and deletion."""
