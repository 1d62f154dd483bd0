"""Regions of websites: a country (ISO 3166), a continent (UN M49), or the world.

The codes are region subtags of BCP 47. An owner says where a website belongs; nothing is guessed.
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
_COUNTRIES = {
    "002": "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR "
    "MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
    "019": "AG AI AR AW BB BL BM BO BQ BR BS BZ CA CL CO CR CU CW DM DO EC FK GD GF GL GP GT GY HN HT JM KN "
    "KY LC MF MQ MS MX NI PA PE PM PR PY SR SV SX TC TT US UY VC VE VG VI",
    "142": "AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV "
    "MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE",
    "150": "AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV "
    "MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA",
    "009": "AS AU CC CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV VU WF WS",
}
_CONTINENT_OF = {code: continent for continent, codes in _COUNTRIES.items() for code in codes.split()}
REGIONS = frozenset({WORLD, *CONTINENTS, *_CONTINENT_OF})
# Suffixes of countries that are used everywhere.
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
    """Return a region in words; the code of a country without a name here."""
    return str(LABELS.get(region) or NAMES.get(region) or region)


def broader(region: str) -> list[str]:
    """Return ``region`` and those around it, up to the world."""
    continent = _CONTINENT_OF.get(region, region)
    return list(dict.fromkeys([region, continent, WORLD]))


def proposed_region(host: str) -> str:
    """Return the country of a host's own suffix; the world for a suffix that is used everywhere."""
    suffix = host.rpartition(".")[2]
    country = "GB" if suffix == "uk" else suffix.upper()
    return country if country in _CONTINENT_OF and suffix not in _GENERIC else WORLD
