"""Answers of accounts to findings, and their conversations with analysts: what changes them."""
