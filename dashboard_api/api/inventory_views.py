"""The signed endpoints for what scans saw: certificates, domains and scripts."""

import msgspec
from django.db import transaction

from dashboard_api import errors
from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import authorize, check_entitlement
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.crawler import inventory
from dashboard_api.models import Entitlement
from dashboard_api.reading.snapshot import snapshot
from signed_api.inventory import (
    INVENTORY,
    LAST_DAYS,
    SCRIPT,
    InventoryRequest,
    LastDaysRequest,
    ScriptRequest,
)


@signed(INVENTORY)
def site_inventory(call: Call, caller: Authenticated, fields: InventoryRequest) -> bytes:
    """``POST /v1/site/inventory``: return certificates, domain and scripts that scans saw."""
    link = authorize(caller.link, fields, call.moment)
    with snapshot():
        return msgspec.json.encode(inventory.build_inventory(link))


@signed(SCRIPT)
def site_script(call: Call, caller: Authenticated, fields: ScriptRequest) -> bytes:
    """``POST /v1/site/script``: pin a script of the home page, or accept its host."""
    link = authorize(caller.link, fields, call.moment)
    try:
        with transaction.atomic():
            return msgspec.json.encode(inventory.change_script(link, fields))
    except inventory.UnknownScript as error:
        raise errors.UnknownScript from error
    except inventory.WrongScriptState as error:
        raise errors.WrongState(str(error)) from error


@signed(LAST_DAYS)
def account_last_days(call: Call, caller: Authenticated, fields: LastDaysRequest) -> bytes:
    """``POST /v1/account/last-days``: list the last days of certificates and domains of all websites."""
    entitlement = Entitlement.objects.filter(account_id=caller.account_id).first()
    check_entitlement(entitlement, call.moment.date())
    with snapshot():
        return msgspec.json.encode(inventory.build_last_days(caller.account_id, fields, call.moment))
