"""Regions of websites: a country (ISO 3166), a continent (UN M49), or the world.

The codes are region subtags of BCP 47. The owner chooses the region of a website.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

WORLD = "001"
CONTINENTS: dict[str, str | Promise] = {
    "002": _("Africa"),
    "019": _("America"),
    "142": _("Asia"),
    "150": _("Europe"),
    "009": _("Oceania"),
}
LABELS: dict[str, str | Promise] = {WORLD: _("World"), **CONTINENTS}
_COUNTRY_CODES = (
    "AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW "
    "BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES "
    "ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL "
    "IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA "
    "MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU "
    "NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL "
    "SM SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE "
    "VG VI VN VU WF WS YE YT ZA ZM ZW"
)
_COUNTRIES = frozenset(_COUNTRY_CODES.split())
REGIONS = frozenset({WORLD, *CONTINENTS, *_COUNTRIES})
# Country suffixes that are used worldwide.
_GENERIC_SUFFIXES = "ac ag ai cc cd co fm gg im io la me ms mu nu pw sc sh so st tk to tv vc vg ws"
_GENERIC = frozenset(_GENERIC_SUFFIXES.split())


NAMES: dict[str, str | Promise] = {
    "AT": _("Austria"),
    "AU": _("Australia"),
    "BE": _("Belgium"),
    "BR": _("Brazil"),
    "CA": _("Canada"),
    "CH": _("Switzerland"),
    "CZ": _("Czechia"),
    "DE": _("Germany"),
    "DK": _("Denmark"),
    "ES": _("Spain"),
    "FI": _("Finland"),
    "FR": _("France"),
    "GB": _("United Kingdom"),
    "IE": _("Ireland"),
    "IN": _("India"),
    "IT": _("Italy"),
    "JP": _("Japan"),
    "MX": _("Mexico"),
    "NL": _("Netherlands"),
    "NO": _("Norway"),
    "NZ": _("New Zealand"),
    "PL": _("Poland"),
    "PT": _("Portugal"),
    "SE": _("Sweden"),
    "US": _("United States"),
    "ZA": _("South Africa"),
}


def region_label(region: str) -> str:
    """Return the name of a region, else its code."""
    return str(LABELS.get(region) or NAMES.get(region) or region)


def proposed_region(host: str) -> str:
    """Return the country of the host's suffix; the world for any other or worldwide suffix."""
    suffix = host.rpartition(".")[2]
    country = "GB" if suffix == "uk" else suffix.upper()
    return country if country in _COUNTRIES and suffix not in _GENERIC else WORLD
