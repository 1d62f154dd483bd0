"""The customer portal: signs on the server, renders with htmx."""
