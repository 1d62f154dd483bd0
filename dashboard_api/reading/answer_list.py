"""The response that lists the answers of an account to findings of a website."""

from collections import Counter

from dashboard_api.models import Answer
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import sections, topics
from dashboard_api.reading.conversation import answer_of
from dashboard_api.reading.matching import split_commas
from signed_api.answering import ENDED, AnsweredFinding, AnswersRequest, AnswersResponse
from signed_api.answers import ANSWERS
from signed_api.findings import OPEN


def build_answers(link: AccountSite, request: AnswersRequest) -> AnswersResponse:
    """Return one page of the account's answers, newest first."""
    own = Answer.objects.filter(website=link.website_id, account=link.account_id)
    counts = Counter(own.open().order_by().values_list("answer", flat=True))
    rows = own
    if request.state == OPEN:
        rows = own.open()
    elif request.state == ENDED:
        rows = own.exclude(ended_at=None)
    if request.answer:
        rows = rows.filter(answer__in=split_commas(request.answer))
    end = request.page * request.page_size
    page = rows.order_by("-pk").select_related("case", "finding")[end - request.page_size : end]
    return AnswersResponse(
        ok=True,
        host=link.host,
        answers=[_row(answer) for answer in page],
        total=rows.count(),
        open={answer: counts[answer] for answer in ANSWERS},
    )


def _row(answer: Answer) -> AnsweredFinding:
    finding = answer.finding
    return AnsweredFinding(
        finding_id=str(finding.pk),
        title=finding.title,
        severity=sections.LABELS[finding.severity],
        status=finding.status,
        location=finding.location,
        problem=topics.problem_id(finding.problem),
        answer=answer_of(answer),
    )
