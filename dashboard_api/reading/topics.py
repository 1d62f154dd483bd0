"""Looks up the topics of stored findings by the keys of their problems.

The look-up happens on reading, so a new topic needs no change of stored data.
"""

from dashboard_api.models import problem_key
from dashboard_api.scanners.topics import TOPICS

_KEYS_OF_TOPICS = {
    topic.id: tuple(problem_key(source, rule, "") for source, rules in topic.rules.items() for rule in rules)
    for topic in TOPICS.values()
}
# Keys of topics that several sources report
SHARED_KEYS = frozenset(
    key for topic in TOPICS.values() if len(topic.rules) > 1 for key in _KEYS_OF_TOPICS[topic.id]
)
_TOPIC_OF = {key: topic for topic, keys in _KEYS_OF_TOPICS.items() for key in keys}


def topic_of(key: str) -> str | None:
    """Return the id of the topic to which a problem belongs, if any."""
    return _TOPIC_OF.get(key)


def problem_id(key: str) -> str:
    """Return the id of a problem in the API: the id of its topic, or else its key."""
    return _TOPIC_OF.get(key, key)


def keys_of(problem: str) -> tuple[str, ...]:
    """Return the stored keys of the problem with this id; empty for an empty id."""
    return _KEYS_OF_TOPICS.get(problem) or ((problem,) if problem else ())


def fix_of(problem: str) -> str:
    """Return the fix of a topic by its id; empty for a problem without a topic."""
    return TOPICS[problem].fix if problem in TOPICS else ""


def title_of(problem: str) -> str | None:
    """Return the title of a topic by its id, if the problem has a topic."""
    return TOPICS[problem].title if problem in TOPICS else None
