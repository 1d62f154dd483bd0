"""Evidence of a SARIF result, as paragraphs of text."""

from collections.abc import Iterator

from dashboard_api import limits
from dashboard_api.scanners.members import Row, dicts_of, line_of, object_of, text_of
from dashboard_api.scanners.sarif.run import Run, dicts_of_all, text_in
from dashboard_api.scanners.text import labelled_lines, section


def evidence_of(
    run: Run, result: Row, address: str, locations: list[Row], *, is_first: bool
) -> Iterator[str]:
    """Yield paragraphs about the ``locations`` of ``result`` at one address, with excerpts.

    Flow, request and response are the same for all addresses, so only the first address gets them.
    """
    physical = [object_of(each, "physicalLocation") for each in locations]
    lines = [line_of(object_of(each, "region"), "startLine") for each in physical]
    logical = [
        line_of(each, "fullyQualifiedName", "name") for each in dicts_of_all(locations, "logicalLocations")
    ]
    yield from labelled_lines(
        {
            "URL": address if "?" in address or "#" in address else "",
            "Line": ", ".join(filter(None, lines)),
            "In": ", ".join(filter(None, logical)),
        }
    )
    for each in physical:
        yield from section("Excerpt", _snippet(each, "region") or _snippet(each, "contextRegion"))
    for location in locations:
        yield from section("Attack", text_of(object_of(location, "properties").get("attack")))
        yield from section("Evidence", text_of(object_of(location, "properties").get("evidence")))
    if is_first:
        yield from _flow_and_messages(run, result)


def _flow_and_messages(run: Run, result: Row) -> Iterator[str]:
    yield from section("Flow", "\n".join(_as_far_as_stored(_flow(run, result))))
    request, response = object_of(result, "webRequest"), object_of(result, "webResponse")
    yield from section(
        "Request", _message(request, f"{line_of(request, 'method')} {line_of(request, 'target')}")
    )
    status = f"{line_of(response, 'statusCode')} {line_of(response, 'reasonPhrase')}"
    yield from section("Response", _message(response, status))


def _flow(run: Run, result: Row) -> Iterator[str]:
    thread_flows = dicts_of_all(dicts_of(result, "codeFlows"), "threadFlows")
    for step in dicts_of_all(thread_flows, "locations"):
        location = object_of(step, "location")
        physical = object_of(location, "physicalLocation")
        address = run.address(object_of(physical, "artifactLocation"))
        line = line_of(object_of(physical, "region"), "startLine")
        yield f"{address}:{line} {run.message(object_of(location, 'message'), {})}".strip(" :")


def _as_far_as_stored(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines up to the length of stored evidence: a flow may have very many steps."""
    length = 0
    for line in lines:
        yield line
        length += len(line) + 1
        if length > limits.MAX_STORED_EVIDENCE_BYTES:
            return


def _message(message: Row, first: str) -> str:
    """Return the text of a webRequest or webResponse."""
    headers = "\n".join(f"{name}: {text_of(value)}" for name, value in object_of(message, "headers").items())
    body = text_of(object_of(message, "body").get("text"))
    return "\n\n".join(filter(None, ["\n".join(filter(None, [first.strip(), headers])), body]))


def _snippet(physical: Row, region: str) -> str:
    return text_in(object_of(physical, region), "snippet")
