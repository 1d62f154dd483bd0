"""Conversion of SSLyze 3 and 4 JSON to the names of version 5.

Sources: reports of SSLyze 3.1.0 and 4.1.0, and their ``json_output.py``.
"""

from dashboard_api.scanners.members import JsonObject, line_at, list_at, object_at


def is_before_5(document: JsonObject) -> bool:
    """Return whether the report is from version 3 or 4, which list errors separately from results."""
    servers = list_at(document, "server_scan_results")
    return "server_connectivity_errors" in document or any(
        isinstance(server, dict) and "scan_commands_results" in server for server in servers
    )


def as_version_5(document: JsonObject) -> JsonObject:
    """Return the report in the layout of version 5. It has no time, as versions 3 and 4 omit it."""
    servers = [
        _server(server) if isinstance(server, dict) else server
        for server in list_at(document, "server_scan_results")
    ]
    return {
        "invalid_server_strings": list_at(document, "server_connectivity_errors"),
        "server_scan_results": servers,
        "sslyze_version": document.get("sslyze_version"),
    }


def _server(server: JsonObject) -> JsonObject:
    results, errors = object_at(server, "scan_commands_results"), object_at(server, "scan_commands_errors")
    attempts = {
        name: _completed(name, result)
        for name, result in results.items()
        if result is not None or name in list_at(server, "scan_commands")
    }
    attempts |= {name: _failed(error) for name, error in errors.items()}
    location = object_at(object_at(server, "server_info"), "server_location")
    return {"server_location": location, "scan_result": attempts}


def _completed(command: str, result: object) -> object:
    if not isinstance(result, dict):
        return result
    if command == "certificate_info":
        deployments = list_at(result, "certificate_deployments")
        result = {"certificate_deployments": [_deployment(each) for each in deployments]}
    return {"status": "COMPLETED", "result": result}


def _failed(error: object) -> object:
    if not isinstance(error, dict):
        return error
    return {
        "status": "ERROR",
        "error_reason": line_at(error, "reason"),
        "error_trace": error.get("exception_trace"),
    }


def _deployment(deployment: object) -> object:
    if not isinstance(deployment, dict):
        return deployment
    chain = list_at(deployment, "received_certificate_chain")
    return deployment | {"received_certificate_chain": [_certificate(each) for each in chain]}


def _certificate(certificate: object) -> object:
    """Return a certificate of version 3 with the names of versions 4 and 5."""
    if not isinstance(certificate, dict) or "notAfter" not in certificate:
        return certificate
    key = object_at(certificate, "publicKey")
    return {
        "not_valid_after": certificate["notAfter"],
        "public_key": {"algorithm": key.get("algorithm"), "key_size": key.get("size")},
        "signature_hash_algorithm": {"name": certificate.get("signatureAlgorithm")},
    }
