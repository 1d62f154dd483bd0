"""Snippets of a signed call in several languages, for the portal and the API's documentation.

Each is a template ``signing/<key>.txt`` of escaped text, with the values ``path``, ``base_url``, ``host``,
``link_id`` and ``account_ref``. The secret is read from SITE_API_SECRET in the environment.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A snippet in one language; ``needs`` names the programs or libraries that it uses."""

    key: str
    title: str
    needs: str

    @property
    def template(self) -> str:
        """The name of the template."""
        return f"signing/{self.key}.txt"


SNIPPETS = (
    Snippet(key="curl", title="Shell", needs="curl, openssl"),
    Snippet(key="python", title="Python", needs="requests"),
    Snippet(key="javascript", title="JavaScript", needs="Node.js 18"),
    Snippet(key="php", title="PHP", needs="PHP 8"),
    Snippet(key="go", title="Go", needs="Go 1.19"),
    Snippet(key="ruby", title="Ruby", needs="Ruby 3"),
)
