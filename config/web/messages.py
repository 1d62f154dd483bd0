"""Messages for the next page, in a cookie that other hosts of the domain cannot set.

Django's signature does not name the browser: another host of the domain could set a cookie that it got from
us, and so show its messages to others.
"""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class HostCookieStorage(CookieStorage):
    """Django's storage in a cookie, with the prefix that binds the cookie to one host."""

    cookie_name = "__Host-messages" if settings.HTTPS else "messages"


class MessageStorage(FallbackStorage):
    """Storage of messages in the cookie; long ones go into the session."""

    storage_classes = (HostCookieStorage, SessionStorage)
