"""Billing: what accounts may do. The payment provider keeps prices and payments."""
