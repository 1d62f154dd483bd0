"""The portal's calls to the service: ``signed_api`` plus what a web process needs.

That is calls within this process, a limit on concurrent calls, and a circuit breaker.
"""
