"""The portal's tables, one module for each subject."""

from portal.models.accounts import Account, Website
from portal.models.answers import LastAnswer
from portal.models.helpers import HelperLink
from portal.models.languages import UserLanguage
from portal.models.members import Invitation, Membership, MembershipChange
from portal.models.notifications import FeedCursor, PendingNotification, SentReminder, Subscription
from portal.models.ownership import ClaimEmail, ClaimState
from portal.models.saved_views import SavedView
from portal.models.sharing import Badge, IssueTracker, ShareLink, ShareOpening
from portal.models.summaries import WebsiteSummary
from portal.models.visits import DayOfVisit, LastVisit

__all__ = [
    "Account",
    "Badge",
    "ClaimEmail",
    "ClaimState",
    "DayOfVisit",
    "FeedCursor",
    "HelperLink",
    "Invitation",
    "IssueTracker",
    "LastAnswer",
    "LastVisit",
    "Membership",
    "MembershipChange",
    "PendingNotification",
    "SavedView",
    "SentReminder",
    "ShareLink",
    "ShareOpening",
    "Subscription",
    "UserLanguage",
    "Website",
    "WebsiteSummary",
]
