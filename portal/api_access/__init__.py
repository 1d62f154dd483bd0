"""The pages for those who call the signed API: ids, snippets, a test call, secrets and the calls made."""
