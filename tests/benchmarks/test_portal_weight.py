"""The total blocking time, from the events of a trace."""

from benchmarks.portal_weight import blocked_ms


def event(name, start_ms, ms=0.0, *, thread=1):
    return {"name": name, "pid": 7, "tid": thread, "ts": start_ms * 1000, "dur": ms * 1000}


PAINT = event("firstContentfulPaint", 100)


def test_long_tasks_count_beyond_50_ms():
    assert blocked_ms([event("RunTask", 110, 80), PAINT, event("RunTask", 200, 50)]) == 30


def test_a_task_counts_only_from_the_first_paint_on():
    assert blocked_ms([event("RunTask", 10, 80), event("RunTask", 90, 100), PAINT]) == 40


def test_other_threads_and_what_is_within_a_task_do_not_count():
    inner = event("Layout", 210, 150)
    assert blocked_ms([PAINT, event("RunTask", 200, 160), inner, event("RunTask", 200, 900, thread=2)]) == 110
