"""The built-in engine Scripts: the scripts of the home page, and libraries with known vulnerabilities."""
