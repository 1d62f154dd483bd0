"""Parts of forms and pages that both apps use."""
