"""What draws a website's tag anew, in SQL that both engines speak; models/revisions.py has the table."""

EVERY_WEBSITE = 0
OF_A_WEBSITE = ("dashboard_api_finding", "dashboard_api_coverage", "dashboard_api_analystnote")
OF_EVERY_WEBSITE = "dashboard_api_source"


def drawn(websites: str) -> str:
    """The statement that draws a tag for each row of ``websites``, a SELECT of two columns."""
    return (
        f"INSERT INTO dashboard_api_revision (website_id, tag) {websites} "
        "ON CONFLICT (website_id) DO UPDATE SET tag = excluded.tag"
    )
