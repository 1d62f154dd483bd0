"""Texts that findings need: labels, topics, fixes by stack, ratings, evidence, notes."""
