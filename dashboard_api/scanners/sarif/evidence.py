"""Evidence of a SARIF result, as paragraphs of text."""

from collections.abc import Iterator

from dashboard_api import limits
from dashboard_api.scanners.members import JsonObject, dicts_at, line_at, object_at, text_of
from dashboard_api.scanners.sarif.run import Run, dicts_at_all, message_text_at
from dashboard_api.scanners.text import labelled_lines, section


def evidence_of(
    run: Run, result: JsonObject, address: str, locations: list[JsonObject], *, is_first: bool
) -> Iterator[str]:
    """Yield paragraphs about the ``locations`` of ``result`` at one address, with excerpts.

    Flow, request and response are the same for all addresses, so only the first address gets them.
    """
    physical = [object_at(each, "physicalLocation") for each in locations]
    lines = [line_at(object_at(each, "region"), "startLine") for each in physical]
    logical = [
        line_at(each, "fullyQualifiedName", "name") for each in dicts_at_all(locations, "logicalLocations")
    ]
    yield from labelled_lines(
        {
            # The import removes query and fragment from the location.
            "URL": address if "?" in address or "#" in address else "",
            "Line": ", ".join(filter(None, lines)),
            "In": ", ".join(filter(None, logical)),
        }
    )
    for each in physical:
        yield from section("Excerpt", _snippet(each, "region") or _snippet(each, "contextRegion"))
    for location in locations:
        yield from section("Attack", text_of(object_at(location, "properties").get("attack")))
        yield from section("Evidence", text_of(object_at(location, "properties").get("evidence")))
    if is_first:
        yield from _flow_and_messages(run, result)


def _flow_and_messages(run: Run, result: JsonObject) -> Iterator[str]:
    yield from section("Flow", "\n".join(_as_far_as_stored(_flow(run, result))))
    request, response = object_at(result, "webRequest"), object_at(result, "webResponse")
    yield from section(
        "Request", _message(request, f"{line_at(request, 'method')} {line_at(request, 'target')}")
    )
    status = f"{line_at(response, 'statusCode')} {line_at(response, 'reasonPhrase')}"
    yield from section("Response", _message(response, status))


def _flow(run: Run, result: JsonObject) -> Iterator[str]:
    thread_flows = dicts_at_all(dicts_at(result, "codeFlows"), "threadFlows")
    for step in dicts_at_all(thread_flows, "locations"):
        location = object_at(step, "location")
        physical = object_at(location, "physicalLocation")
        address = run.address(object_at(physical, "artifactLocation"))
        line = line_at(object_at(physical, "region"), "startLine")
        yield f"{address}:{line} {run.message(object_at(location, 'message'), {})}".strip(" :")


def _as_far_as_stored(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines up to the length of stored evidence: a flow may have very many steps."""
    length = 0
    for line in lines:
        yield line
        length += len(line) + 1
        if length > limits.MAX_STORED_EVIDENCE_BYTES:
            return


def _message(message: JsonObject, first: str) -> str:
    """Return the text of a webRequest or webResponse."""
    headers = "\n".join(f"{name}: {text_of(value)}" for name, value in object_at(message, "headers").items())
    body = text_of(object_at(message, "body").get("text"))
    return "\n\n".join(filter(None, ["\n".join(filter(None, [first.strip(), headers])), body]))


def _snippet(physical: JsonObject, region: str) -> str:
    return message_text_at(object_at(physical, region), "snippet")
