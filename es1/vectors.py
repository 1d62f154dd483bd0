"""The published test vectors of ES1, made with the openssl command line.

Each has a secret, the parts of a request, its canonical string and signature, and the response that a service
gives at ``server_now``.
"""

from importlib.resources import files


def read_vectors() -> bytes:
    """Return the vectors as JSON."""
    return files("es1").joinpath("vectors.json").read_bytes()
