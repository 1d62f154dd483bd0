"""What is read for each response, and how its members are built."""
