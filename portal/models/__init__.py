"""The portal's tables, one module for each subject."""

from portal.models.accounts import Account, Website
from portal.models.languages import UserLanguage
from portal.models.members import Invitation, Membership, MembershipChange
from portal.models.notifications import FeedCursor, PendingNotification, Subscription
from portal.models.sharing import IssueTracker, ShareLink, ShareOpening
from portal.models.summaries import WebsiteSummary

__all__ = [
    "Account",
    "FeedCursor",
    "Invitation",
    "IssueTracker",
    "Membership",
    "MembershipChange",
    "PendingNotification",
    "ShareLink",
    "ShareOpening",
    "Subscription",
    "UserLanguage",
    "Website",
    "WebsiteSummary",
]
