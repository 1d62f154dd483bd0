"""A Redis of a test's own, which may be killed, or made to hang, and started again."""

import os
import shutil
import signal
import socket
import subprocess

import pytest
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry


class RedisServer:
    """Its process, always on the same port, keeping nothing on disk."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self):
        """Return once it answers."""
        command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--save", ""]
        self._process = subprocess.Popen(command, cwd=self._folder, stdout=subprocess.DEVNULL)
        self.ask("PING")

    def kill(self):
        """Without a word to anybody."""
        self._process.kill()
        self._process.wait()

    def hang(self):
        """Connections are accepted, and nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)

    def ask(self, *command):
        """The answer to one command of a client of its own."""
        with redis.Redis.from_url(self.url, retry=Retry(ConstantBackoff(0.02), 250)) as client:
            return client.execute_command(*command)


def running(folder):
    """One for a test, or a reason to skip; with REQUIRE_REDIS=1 (continuous integration) to fail instead."""
    if shutil.which("redis-server") is None:
        without = pytest.fail if os.environ.get("REQUIRE_REDIS") == "1" else pytest.skip
        without("Redis is not installed (Debian: apt install redis-server)")
    return RedisServer(folder)
