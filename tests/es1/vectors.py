"""The published test vectors, by name."""

import base64
import json

from es1.vectors import read_vectors

DOCUMENT = json.loads(read_vectors())
SERVER_NOW = DOCUMENT["server_now"]
WINDOW = DOCUMENT["window_seconds"]
ACCOUNTS = DOCUMENT["accounts"]
VECTORS = {vector["name"]: vector for vector in DOCUMENT["vectors"]}


def body_of(vector):
    return base64.b64decode(vector["body_base64"])
