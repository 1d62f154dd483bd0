"""Documents about all websites together: made beforehand, so that no stranger reaches a finding.

Decision records 0124 and 0125.
"""
