"""Counters in Redis, while processes lose the connection and restore it."""

import logging
import pickle

import pytest

from config.operations import shared_cache
from config.operations.databases import caches


@pytest.fixture
def processes(redis_server):
    """The caches of two web processes."""
    settings = caches(redis_server.url)["default"]
    parameters = {"KEY_PREFIX": settings["KEY_PREFIX"], "OPTIONS": settings["OPTIONS"]}
    made = [shared_cache.SharedCache(redis_server.url, dict(parameters)) for _ in range(2)]
    yield made
    for cache in made:
        cache.local.clear()
        cache._cache._get_connection_pool(write=True).disconnect()


AWAY = {
    "killed": lambda server: server.kill(),
    "hanging": lambda server: server.hang(),
    "full": lambda server: server.ask("CONFIG", "SET", "maxmemory", "1"),
}


def test_all_processes_count_together(processes):
    one, other = processes
    one.set("attempts", [1.5])
    assert other.get("attempts") == [1.5]
    assert one.add("lock", True)
    assert not other.add("lock", True)


def test_clearing_leaves_what_others_keep_in_the_same_redis(processes, redis_server):
    redis_server.ask("SET", "theirs", "1")
    processes[0].set("attempts", [1.5])
    processes[0].clear()
    assert processes[1].get("attempts") is None
    assert redis_server.ask("GET", "theirs") == b"1"


@pytest.mark.parametrize("how", AWAY)
def test_a_process_counts_on_by_itself_while_redis_is_away(processes, redis_server, how):
    one, _ = processes
    AWAY[how](redis_server)
    one.set("attempts", [1.5])
    assert one.get("attempts") == [1.5]
    assert one.add("lock", True)
    assert not one.add("lock", True)
    assert one.delete("lock")


@pytest.mark.parametrize(
    ("operation", "arguments", "answer"),
    [
        ("touch", ["attempts"], False),
        ("get_many", [["attempts"]], {}),
        ("has_key", ["attempts"], False),
        ("set_many", [{"attempts": 1}], []),
        ("delete_many", [["attempts"]], None),
        ("clear", [], None),
    ],
)
def test_no_operation_fails_while_redis_is_away(processes, redis_server, operation, arguments, answer):
    redis_server.kill()
    assert getattr(processes[0], operation)(*arguments) == answer


def test_redis_is_left_alone_for_a_while_after_it_failed_and_the_log_says_so_once(
    processes, redis_server, caplog
):
    one, other = processes
    redis_server.kill()
    with caplog.at_level(logging.WARNING):
        one.set("attempts", [1.5])
    redis_server.start()
    one.set("attempts", [1.5, 2.5])
    assert other.get("attempts") is None
    assert len(caplog.records) == 1
    assert "Redis fails" in caplog.text


def test_processes_count_together_again_once_redis_is_back(processes, redis_server, monkeypatch):
    monkeypatch.setattr(shared_cache, "SECONDS_AWAY", 0)
    one, other = processes
    one.set("attempts", [1.5])
    redis_server.kill()
    one.set("attempts", [2.5])
    redis_server.start()
    one.set("attempts", [3.5])
    assert other.get("attempts") == [3.5]


ran = []


class Planted:
    """An object whose code runs when it is unpickled."""

    def __reduce__(self):
        return (ran.append, ("ran",))


def test_a_pickle_in_redis_is_not_executed_and_the_process_counts_on_by_itself(processes, redis_server):
    one, _ = processes
    redis_server.ask("SET", one.make_key("attempts"), pickle.dumps(Planted()))
    assert one.get("attempts", []) == []
    assert ran == []
    one.set("attempts", [1.5])
    assert one.get("attempts") == [1.5]


@pytest.mark.parametrize(
    "value", [True, False, None, 0, -7, 1.5, "café", [1763800000.123456, 2.5], {"a": [1, None]}]
)
def test_a_value_comes_back_as_the_type_that_was_stored(processes, value):
    one, other = processes
    one.set("value", value)
    got = other.get("value", "nothing")
    assert (type(got), got) == (type(value), value)


@pytest.mark.parametrize("value", [(1,), {1: 2}, {3}, b"bytes", object()])
def test_a_type_that_would_come_back_changed_is_refused(processes, value):
    with pytest.raises(TypeError):
        processes[0].set("value", value)


def test_whole_numbers_are_counted_in_redis_itself(processes):
    one, other = processes
    one.set("count", 1)
    assert one.incr("count") == 2
    assert other.get("count") == 2
