"""Exports of findings: CSV, JSON and SARIF files, and a report as a page or a PDF."""
