"""``python listen.py GATE PORT PROGRAM ...``: open a port behind the wall, hand it to the worker, and run.

The worker's proxy then answers at this port, although the program has no network.
"""

import os
import socket
import sys

gate, port, *command = sys.argv[1:]
with socket.create_server(("127.0.0.1", int(port))) as listener, socket.socket(fileno=int(gate)) as worker:
    socket.send_fds(worker, [b"."], [listener.fileno()])
    worker.recv(1)  # it answers from now on
os.execv(command[0], command)  # noqa: S606 - the engine's command
