"""Messages for the next page, in a cookie that no other host of the domain can set.

Django's signature does not say whose cookie it is: another host of the domain could set one that it got for
itself, and so show its messages to others.
"""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class HostCookieStorage(CookieStorage):
    """Django's storage in a cookie, with the name of a cookie of one host."""

    cookie_name = "__Host-messages" if settings.HTTPS else "messages"


class MessageStorage(FallbackStorage):
    """Messages in the cookie, and those that are too long for it in the session."""

    storage_classes = (HostCookieStorage, SessionStorage)
