"""Take it with you: what a filter finds as a file (CSV, JSON, SARIF), as a report to print, and as a PDF."""
