"""Billing: what accounts may do. Prices and payments stay with the payment provider."""
