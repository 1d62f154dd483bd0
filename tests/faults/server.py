"""A server on loopback whose scripts respond as badly as a test needs."""

import contextlib
import functools
import random
import socket
import ssl
import struct
import threading
import time
from dataclasses import dataclass

STALL_SECONDS = 90  # longer than TOO_LATE; a server stops waiting when its test ends
TOO_LATE = 30  # seconds after which a call has ignored its deadline; a busy machine is no reason


@dataclass(frozen=True)
class Received:
    head: bytes
    body: bytes
    at: float

    def header(self, name):
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.strip().lower() == name.encode():
                return value.strip().decode()
        return None


class FaultServer:
    """A server that runs one script a connection, repeats the last one, and stores the requests."""

    def __init__(self, *scripts, tls=None):
        self._scripts = scripts
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._stopped = threading.Event()
        self._threads = []
        self.connections = 0
        self.received = []

    @property
    def port(self):
        return self._listener.getsockname()[1]

    @property
    def base_url(self):
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def is_running(self):
        return bool(self._threads)

    def __enter__(self):
        self._start(self._accept)
        return self

    def __exit__(self, *_):
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)
            assert not thread.is_alive()

    def wait(self, seconds):
        """Sleep, unless the test is over."""
        self._stopped.wait(seconds)

    def _start(self, target, *args):
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            script = self._scripts[min(self.connections, len(self._scripts) - 1)]
            self.connections += 1
            self._start(self._serve, connection, script)

    def _serve(self, connection, script):
        with connection, contextlib.suppress(OSError, ssl.SSLError):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                script(self, connection)

    def receive(self, connection):
        """Read and store one whole request."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(4096) or self._gone()
        head, _, body = data.partition(b"\r\n\r\n")
        received = Received(head, body, time.time())
        length = int(received.header("content-length") or 0)
        while len(body) < length:
            body += connection.recv(4096) or self._gone()
        self.received.append(Received(head, body, received.at))

    def _gone(self):
        raise ConnectionResetError


def http(status=200, body=b"", *, headers=(), length=None):
    """Return the bytes of a response; ``length`` may be wrong."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body) if length is None else length}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def answer(*args, **kwargs):
    """Read the request and respond."""
    return send(http(*args, **kwargs))


def send(data):
    """Read the request, send these bytes and close."""

    def script(server, connection):
        server.receive(connection)
        connection.sendall(data)

    return script


def drip(fast, slow, *, every=0.2):
    """Read the request, send ``fast`` at once and ``slow`` a byte at a time."""

    def script(server, connection):
        server.receive(connection)
        connection.sendall(fast)
        for position in range(len(slow)):
            connection.sendall(slow[position : position + 1])
            server.wait(every)

    return script


def stall(fast=b""):
    """Read the request, send ``fast`` and then nothing."""

    def script(server, connection):
        server.receive(connection)
        connection.sendall(fast)
        server.wait(STALL_SECONDS)

    return script


def say_nothing(server, connection):
    """Accept the connection and neither read nor write."""
    server.wait(STALL_SECONDS)


def drip_unasked(server, connection):
    """Write single bytes without reading, as a stalled TLS handshake."""
    for byte in b"\x16\x03\x03\x40\x00" + b"\x02" * 200:
        connection.sendall(bytes([byte]))
        server.wait(0.2)


def reset(server, connection):
    """Read the request and reset the connection."""
    server.receive(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_soon(server, connection):
    """Reset the connection after the first byte."""
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hang_up(server, connection):
    """Read the request and close without a response."""
    server.receive(connection)


@functools.cache
def _closed():
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    return closed


def closed_port():
    """Return a port that refuses connections: it is ours until the process ends, and nothing listens."""
    return _closed().getsockname()[1]


def free_port():
    """Return a port for a server of a test, below those that the system gives to others by itself."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def silent_port(address="0.0.0.0", port=0):
    """A port with a full queue, by default on every loopback address: connecting to it hangs."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((address, port), backlog=0))
        stack.enter_context(socket.create_connection(listener.getsockname()))
        yield listener.getsockname()[1]
