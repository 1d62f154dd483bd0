"""The published test vectors of ES1, made with the openssl command line.

Each vector has a secret, a request, its canonical string and signature, and the response that a service must
give at ``server_now``.
"""

from importlib.resources import files


def read_vectors() -> bytes:
    """Return the vectors as JSON."""
    return files("es1").joinpath("vectors.json").read_bytes()
