"""A Redis for one test, which can be killed, stopped and restarted."""

import os
import shutil
import signal
import subprocess

import pytest
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from tests.faults.server import free_port


class RedisServer:
    """The process, always on the same port, without files."""

    def __init__(self, folder):
        self._port = free_port()
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self):
        """Wait until it responds."""
        command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--save", ""]
        self._process = subprocess.Popen(command, cwd=self._folder, stdout=subprocess.DEVNULL)
        self.ask("PING")

    def kill(self):
        """Kill the process at once."""
        self._process.kill()
        self._process.wait()

    def hang(self):
        """Stop the process, so that it accepts connections and does not respond."""
        self._process.send_signal(signal.SIGSTOP)

    def ask(self, *command):
        """Return the response to a command, from a separate client."""
        with redis.Redis.from_url(self.url, retry=Retry(ConstantBackoff(0.02), 250)) as client:
            return client.execute_command(*command)


def running(folder):
    """Start a Redis for a test, or skip it; REQUIRE_REDIS=1 fails instead."""
    if shutil.which("redis-server") is None:
        without = pytest.fail if os.environ.get("REQUIRE_REDIS") == "1" else pytest.skip
        without("Redis is not installed (Debian: apt install redis-server)")
    return RedisServer(folder)
