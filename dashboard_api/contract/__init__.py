"""The service's side of the contract: parses bodies, adds checks to the rules, and generates OpenAPI."""
