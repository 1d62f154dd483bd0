"""What a SARIF result shows for itself."""

from collections.abc import Iterator

from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.members import Row, line_of, object_of, text_of
from dashboard_api.scanners.sarif.run import Run, objects_in_all, text_in


def evidence_of(
    run: Run, result: Row, location: str, there: list[Row], *, has_told_more: bool
) -> Iterator[str]:
    """Yield paragraphs about one place, ``there``: where exactly, and excerpts.

    The path to it, the request and the response follow, unless an earlier place ``has_told_more``.
    """
    physical = [object_of(each, "physicalLocation") for each in there]
    lines = [line_of(object_of(each, "region"), "startLine") for each in physical]
    logical = [
        line_of(each, "fullyQualifiedName", "name") for each in objects_in_all(there, "logicalLocations")
    ]
    yield from named(
        {
            "URL": location if "?" in location or "#" in location else "",
            "Line": ", ".join(filter(None, lines)),
            "In": ", ".join(filter(None, logical)),
        }
    )
    for place in physical:
        yield from section("Excerpt", _snippet(place, "region") or _snippet(place, "contextRegion"))
    for place in there:
        yield from section("Attack", text_of(object_of(place, "properties").get("attack")))
        yield from section("Evidence", text_of(object_of(place, "properties").get("evidence")))
    if not has_told_more:
        yield from _more(run, result)


def _more(run: Run, result: Row) -> Iterator[str]:
    yield from section("Flow", "\n".join(_flow(run, result)))
    request, response = object_of(result, "webRequest"), object_of(result, "webResponse")
    yield from section(
        "Request", _message(request, f"{line_of(request, 'method')} {line_of(request, 'target')}")
    )
    status = f"{line_of(response, 'statusCode')} {line_of(response, 'reasonPhrase')}"
    yield from section("Response", _message(response, status))


def _flow(run: Run, result: Row) -> Iterator[str]:
    for step in objects_in_all(
        objects_in_all(objects_in_all([result], "codeFlows"), "threadFlows"), "locations"
    ):
        place = object_of(step, "location")
        physical = object_of(place, "physicalLocation")
        address = run.address(object_of(physical, "artifactLocation"))
        line = line_of(object_of(physical, "region"), "startLine")
        yield f"{address}:{line} {run.message(object_of(place, 'message'), {})}".strip(" :")


def _message(message: Row, first: str) -> str:
    """A webRequest or webResponse as it travelled."""
    headers = "\n".join(f"{name}: {text_of(value)}" for name, value in object_of(message, "headers").items())
    body = text_of(object_of(message, "body").get("text"))
    return "\n\n".join(filter(None, ["\n".join(filter(None, [first.strip(), headers])), body]))


def _snippet(physical: Row, region: str) -> str:
    return text_in(object_of(physical, region), "snippet")
