"""The portal's tables, one module for each subject."""

from portal.models.accounts import Account, Website
from portal.models.languages import ReadingLanguage
from portal.models.members import Invitation, Membership, MembershipChange
from portal.models.notifications import Listening, Subscription, Tiding
from portal.models.summaries import LastAnswer

__all__ = [
    "Account",
    "Invitation",
    "LastAnswer",
    "Listening",
    "Membership",
    "MembershipChange",
    "ReadingLanguage",
    "Subscription",
    "Tiding",
    "Website",
]
