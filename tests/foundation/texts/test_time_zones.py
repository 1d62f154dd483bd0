"""The names of time zones."""

from foundation.texts.time_zones import time_zones


def test_files_that_are_no_zones_have_no_name():
    assert {"UTC", "Europe/Berlin"} <= time_zones()
    assert not {"Factory", "localtime"} & time_zones()
