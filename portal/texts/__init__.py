"""Texts about findings: labels, topics, fixes by stack, CVSS, evidence, notes."""
