"""The pages about the signed API: ids, snippets, a test call, secrets and recorded calls."""
