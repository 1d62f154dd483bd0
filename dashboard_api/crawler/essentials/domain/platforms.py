"""Platforms that show a page of their own at names that nobody claimed there.

Reviewed against can-i-take-over-xyz and the takeover templates of Nuclei. Platforms that
ask for a proof before they serve a name, such as CloudFront and Fastly, are not listed, and neither is
Shopify, where a closed shop looks the same. At Azure and Elastic Beanstalk, the name does not exist, which is
another rule.
"""

import re
from datetime import date
from typing import NamedTuple

REVIEWED = date(2026, 11, 1)  # the day of the month is not known


class Platform(NamedTuple):
    """A platform: the names of its customers, and the text of its page at an unclaimed one."""

    title: str
    names: re.Pattern[str]
    text: re.Pattern[str]


def _platform(title: str, names: str, text: str) -> Platform:
    return Platform(title, re.compile(rf"(?:.+\.)?(?:{names})"), re.compile(text, re.IGNORECASE))


PLATFORMS = (
    _platform("GitHub Pages", r"github\.io", r"There isn't a GitHub Pages site here\."),
    _platform("Heroku", r"herokuapp\.com|herokudns\.com|herokussl\.com", r"No such app|no-such-app\.html"),
    _platform(
        "Amazon S3",
        r"s3([.-]website)?([.-](dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com",
        r"NoSuchBucket|The specified bucket does not exist",
    ),
    _platform("Surge", r"surge\.sh", r"project not found"),
    _platform("Netlify", r"netlify\.app|netlify\.com|netlifyglobalcdn\.com", r"^\s*Not Found - Request ID: "),
    _platform("Vercel", r"vercel-dns\.com|vercel-dns-\d+\.com|vercel\.app|now\.sh", r"DEPLOYMENT_NOT_FOUND"),
    _platform("WordPress.com", r"wordpress\.com", r"Do you want to register\b.{1,80}\.wordpress\.com"),
    _platform("Bitbucket", r"bitbucket\.io", r"Repository not found"),
    _platform("Pantheon", r"pantheonsite\.io", r"404 error unknown site!|<title>404 - Unknown site"),
    _platform("Ghost", r"ghost\.io", r"Failed to resolve DNS path for this host|Site unavailable\."),
)


def platform_of(name: str) -> Platform | None:
    """Return the platform of a name, if any."""
    return next((platform for platform in PLATFORMS if platform.names.fullmatch(name)), None)
