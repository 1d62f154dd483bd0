"""Servers of TLS that send session tickets, or requests to begin again, without end; Python's ssl cannot."""

import os
import socket
import time
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from tests.faults.server import TOO_LATE

_DATA, _HANDSHAKE = 23, 22
_TICKET = b"\x04\0\0\x0f" + bytes(7) + b"\x01" + b"\x01a" + b"\0\x01t" + b"\0\0"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"


def endless_tickets(tls, folder):
    """Return a script for servers with ``tls``: the head of a response, and then tickets only."""
    tls.num_tickets, tls.keylog_filename = 0, str(folder / "keys")

    def script(server, connection):
        server.receive(connection)
        lines = Path(tls.keylog_filename).read_text().splitlines()
        secret = next(line.split()[2] for line in lines if line.startswith("SERVER_TRAFFIC_SECRET_0"))
        records = _Records(bytes.fromhex(secret))
        ends = time.monotonic() + TOO_LATE
        with socket.socket(fileno=os.dup(connection.fileno())) as plain:
            plain.settimeout(2)  # of a client that reads no more
            plain.sendall(records.of(_DATA, _HEAD))
            while time.monotonic() < ends:
                plain.sendall(records.of(_HANDSHAKE, _TICKET * 800))

    return script


def endless_hellos(server, connection):
    """Send requests to begin the handshake again (RFC 5246, 7.4.1.1), which OpenSSL skips."""
    connection.recv(4096)
    connection.settimeout(2)  # of a client that reads no more
    ends = time.monotonic() + TOO_LATE
    while time.monotonic() < ends:
        connection.sendall(b"\x16\x03\x03\0\x01\0" * 20_000)


class _Records:
    """Encrypted records (RFC 8446) of TLS_AES_256_GCM_SHA384, which OpenSSL chooses first."""

    def __init__(self, secret):
        self._cipher, self._number = AESGCM(_expanded(secret, b"key", 32)), 0
        self._start = int.from_bytes(_expanded(secret, b"iv", 12))

    def of(self, kind, content):
        nonce = (self._start ^ self._number).to_bytes(12)
        self._number += 1
        head = b"\x17\x03\x03" + (len(content) + 17).to_bytes(2)
        return head + self._cipher.encrypt(nonce, content + bytes([kind]), head)


def _expanded(secret, label, size):
    label = b"tls13 " + label
    return HKDFExpand(SHA384(), size, size.to_bytes(2) + bytes([len(label)]) + label + b"\0").derive(secret)
