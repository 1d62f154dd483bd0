"""A small internet: a zone of our own, and public addresses that lead to servers on loopback."""

import socket
from contextlib import ExitStack

from tests.faults.server import FaultServer, closed_port

PUBLIC, PUBLIC_6, OTHER = "8.8.8.8", "2606:4700::1111", "9.9.9.9"
TRAP = "127.0.0.1"


class Internet:
    """Names in ``zone`` have these addresses, or those that a function returns at each lookup.

    Connections to public addresses lead to the ports of ``routes``. Loopback leads to ``trap``, except to the
    address of a ``name_server``.
    """

    def __init__(self, monkeypatch, *, name_server=""):
        self._name_server = name_server
        self._servers = ExitStack()
        self.zone, self.routes, self.connected, self.lookups = {}, {}, [], 0
        self.trap = closed_port()
        self._connect = socket.socket.connect
        monkeypatch.setattr(socket, "getaddrinfo", self._getaddrinfo)
        monkeypatch.setattr(socket.socket, "connect", lambda sock, to: self._open(sock, to))

    def serve(self, *scripts, address=PUBLIC, port=80, **options):
        """Run a server with these scripts until the test ends; None in place of a script closes the port."""
        self.routes.pop((address, port), None)
        if None in scripts:
            return None
        [server] = scripts if isinstance(scripts[0], FaultServer) else [FaultServer(*scripts, **options)]
        if not server.is_running:
            self._servers.enter_context(server)
        self.routes[address, port] = server.port
        return server

    def end(self):
        """Stop the servers that were started here."""
        self._servers.close()

    def reach_ourselves(self, monkeypatch):
        """Let loopback lead to this machine, where tests run servers, databases and Redis."""
        self.zone |= {"localhost": [TRAP], TRAP: [TRAP]}
        open_others = self._open
        monkeypatch.setattr(
            socket.socket,
            "connect",
            lambda sock, to: self._connect(sock, to) if to[0] == TRAP else open_others(sock, to),
        )

    def _getaddrinfo(self, name, port, *_, **__):
        if isinstance(self.zone.get(name), Exception):
            raise self.zone[name]
        if name.replace(":", "").replace(".", "").isalnum() and (":" in name or name[-1].isdigit()):
            found = [name]  # as the system does, an address is its own
        elif name in self.zone:
            self.lookups += 1
            found = self.zone[name]
            found = found() if callable(found) else found
        else:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0)) for address in found]

    def _open(self, sock, to):
        address, port = to[:2]
        if address == self._name_server:
            return self._connect(sock, to)
        if sock.type == socket.SOCK_DGRAM:  # no name server answers here
            raise ConnectionRefusedError(111, "Connection refused")
        self.connected.append((address, port))
        if address == TRAP:
            return self._connect(sock, (TRAP, self.trap))
        if (address, port) not in self.routes:
            raise ConnectionRefusedError(111, "Connection refused")
        return self._connect(sock, (TRAP, self.routes[address, port]))
