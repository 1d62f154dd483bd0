"""Certificates, domains and scripts that scans saw on websites, and when the first two expire."""
