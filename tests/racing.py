"""Many threads, each with its own connections, at the same line at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.core.exceptions import ValidationError
from django.db import connections


def race(function, *, times=8):
    """What each of ``times`` simultaneous calls returned, or the refusal that it raised."""
    barrier = Barrier(times)

    def run(number):
        barrier.wait()
        try:
            return function(number)
        except ValidationError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(run, range(times)))
