"""Health, metrics, heartbeats and request ids of a process, and the commands of operators."""
