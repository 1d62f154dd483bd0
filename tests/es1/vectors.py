"""Test vectors created with the openssl command line."""

import base64
import json
from pathlib import Path

DOCUMENT = json.loads(Path(__file__).with_name("vectors.json").read_text())
SERVER_NOW = DOCUMENT["server_now"]
WINDOW = DOCUMENT["window_seconds"]
ACCOUNTS = DOCUMENT["accounts"]
VECTORS = {vector["name"]: vector for vector in DOCUMENT["vectors"]}


def body_of(vector):
    return base64.b64decode(vector["body_base64"])
