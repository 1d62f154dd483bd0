"""The page for those who call the signed API: ids, snippets and a test call."""
