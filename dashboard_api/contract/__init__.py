"""The service's side of the contract: bodies are read, further checks are made, and OpenAPI is generated."""
