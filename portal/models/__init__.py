"""The portal's tables, one module for each subject."""

from portal.models.accounts import Account, Website
from portal.models.languages import UserLanguage
from portal.models.members import Invitation, Membership, MembershipChange
from portal.models.notifications import FeedCursor, PendingNotification, Subscription
from portal.models.summaries import WebsiteSummary

__all__ = [
    "Account",
    "FeedCursor",
    "Invitation",
    "Membership",
    "MembershipChange",
    "PendingNotification",
    "Subscription",
    "UserLanguage",
    "Website",
    "WebsiteSummary",
]
