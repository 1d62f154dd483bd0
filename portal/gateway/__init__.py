"""The portal's calls to the dashboard service: what ``signed_api`` needs beyond it in a portal.

Calls within this process, a limit of calls at once, and the health of the service.
"""
