import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from portal.pages.forms import Filters
from portal.pages.urls import Address
from signed_api.findings import DashboardRequest

PATH = "/sites/shop.example.com/"


def read(query):
    return Filters.from_query(QueryDict(query))


def test_filters_come_from_the_url():
    assert read("severity=High&kind=confirmed&source=nuclei&query=log4j&page_size=50&page=3") == Filters(
        severity="High", kind="confirmed", source="nuclei", query="log4j", page_size=50, page=3
    )


def test_a_filter_that_the_url_has_several_times_has_all_of_its_values():
    several = "severity=low&severity=High,Low&severity=&kind=confirmed&source=zap&source=nuclei&source=zap"
    assert read(f"{several}&hosts=b.example.com&hosts=A.example.com") == Filters(
        severity="High,Low", kind="confirmed", source="zap,nuclei", hosts="b.example.com,a.example.com"
    )


@pytest.mark.parametrize(
    "query",
    [
        "severity=Terrible",
        "kind=maybe",
        "source=two words",
        "source=" + "x" * 51,
        "query=" + "x" * 201,
        "query=a%00b",
        "query=+++",
        "page=0",
        "page=-1",
        "page=two",
        "page=1.5",
        "page=" + "9" * 5000,
        "page_size=21",
        "page_size=1000",
        "page=501&page_size=20",
        "unknown=1",
        "severity=",
        "status=open",
        "status=gone",
        "severity=,",
        "source=,zap",
        "since=0",
        "since=367",
        "since=1-7",
        "since=30-8",
        "since=0-",
        "since=91-366",
        "since=8-30x",
        "fixed=2",
        "since=-7",
        "problem=a b",
        "hosts=a b.example.com",
        "hosts=https://shop.example.com/",
        "hosts=" + ",".join(["a.example.com"] * 21),
        "hosts=-",
        "hosts=a.example.com,,b.example.com",
        "source=nmap%0A",
        "problem=log4shell%0A",
        "problem=" + "a" * 65,
        "sort=best",
        "sort=worst",
        "view=cards",
    ],
)
def test_filters_ignore_invalid_values(query):
    assert read(query) == Filters(page_size=read(query).page_size)


def test_one_invalid_value_does_not_take_the_others_with_it():
    assert read("severity=Terrible&kind=suspected&page=two") == Filters(kind="suspected")


def test_words_are_read_however_they_are_capitalised():
    assert read("severity=high&kind=CONFIRMED") == Filters(severity="High", kind="confirmed")


def test_a_filter_may_have_several_values():
    filters = read("severity=high,Terrible,CRITICAL,high&kind=suspected,confirmed&source=zap,nuclei")
    assert filters == Filters(severity="Critical,High", kind="confirmed,suspected", source="zap,nuclei")
    assert filters.values("severity") == ["Critical", "High"]
    assert Filters().values("severity") == []


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        (
            "query=jq&since=7&problem=abc&sort=newest",
            Filters(query="jq", since="7", problem="abc", sort="newest"),
        ),
        ("since=7&sort=newest", Filters(since="7", sort="newest")),
        ("problem=abc&view=problems&sort=oldest", Filters(problem="abc", sort="oldest")),
        ("view=problems&sort=oldest", Filters(view="problems", sort="oldest")),
        ("view=problems&sort=locations", Filters(view="problems", sort="locations")),
        ("sort=locations", Filters()),
        ("view=problems&query=jq", Filters(view="problems", query="jq")),
        ("since=30&problem=abc", Filters(since="30", problem="abc")),
        ("since=8-30&query=jq", Filters(query="jq")),
        ("status=fixed&fixed=7&severity=High", Filters(status="fixed", fixed="7", severity="High")),
        ("status=fixed&fixed=7&query=jq", Filters(status="fixed", query="jq")),
        ("fixed=7", Filters()),
    ],
)
def test_filters_go_together_and_a_view_without_its_order_gives_way(query, filters):
    assert read(query) == filters


def test_hosts_go_into_the_address_of_a_share_link_and_back():
    filters = read("hosts=a.example.com,b.example.com&severity=High")
    assert filters.as_text() == "severity=High&hosts=a.example.com%2Cb.example.com"
    assert Filters.from_text(filters.as_text()) == filters
    assert filters.to_request() == DashboardRequest(
        severity="High", hosts="a.example.com,b.example.com", sort="priority"
    )


def test_a_request_has_the_fields_of_the_service():
    request = read("since=7&view=problems&severity=High,Low").to_request()
    assert request == DashboardRequest(since=7, group_by="problem", severity="High,Low", sort="priority")
    assert read("since=8-30").to_request() == DashboardRequest(since=31, older_than=8, sort="priority")
    assert read("since=0-7").to_request() == DashboardRequest(since=8, sort="priority")
    assert read("since=366-").to_request() == DashboardRequest(older_than=366, sort="priority")
    fixed = read("status=fixed&fixed=7").to_request()
    assert fixed == DashboardRequest(status="fixed", fixed_since=7, sort="priority")
    assert read("sort=oldest").to_request() == DashboardRequest(sort="oldest")


def test_open_is_the_default_status():
    assert read("status=FIXED&query=open") == Filters(status="fixed", query="open")
    assert read("status=Open") == Filters()
    assert Filters().to_request().status == "open"


def test_a_finding_has_an_address_that_keeps_the_list():
    address = Address(path=PATH, account="a", filters=Filters(severity="High", page=2))
    assert address.of_finding("7") == f"{PATH}findings/7/?account=a&severity=High&page=2"
    assert address.of_finding("7/../8") == ""


def test_an_address_leaves_defaults_out():
    assert str(Address(path=PATH)) == PATH
    assert str(Address(path=PATH, filters=Filters(page=1, page_size=20))) == PATH


def test_an_address_has_one_order():
    filters = read("page=2&page_size=50&query=a+b%26c&source=zap&kind=suspected&severity=Low")
    assert str(Address(path=PATH, account="acct 1", filters=filters)) == (
        PATH + "?account=acct+1&severity=Low&kind=suspected&source=zap&query=a+b%26c&page_size=50&page=2"
    )


def test_a_changed_filter_leads_to_the_first_page_and_keeps_the_others():
    address = Address(path=PATH, filters=read("severity=Low&page_size=50&page=4"))
    assert address.with_filters(kind="confirmed") == PATH + "?severity=Low&kind=confirmed&page_size=50"
    assert address.with_filters(page=5) == PATH + "?severity=Low&page_size=50&page=5"


def test_a_removed_filter_leaves_no_trace():
    assert Address(path=PATH, filters=read("severity=Low")).with_filters(severity="") == PATH


def test_active_filters_are_those_that_narrow():
    assert read("severity=Low&query=x&page=2&page_size=50").active == {"severity": "Low", "query": "x"}


def test_filters_become_the_same_request():
    assert read("severity=Low&query=x&page=2&page_size=50").to_request() == DashboardRequest(
        severity="Low", query="x", sort="priority", page=2, page_size=50
    )


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "severity": st.sampled_from(["High", "info", "x"]),
            "query": st.text(max_size=210),
            "page": st.one_of(st.integers(-2, 9000).map(str), st.text(max_size=3)),
            "page_size": st.sampled_from(["20", "50", "100", "7"]),
        },
    )
)
def test_reading_an_address_again_gives_the_same_address(data):
    first = Address(path=PATH, filters=Filters.from_query(data))
    again = Address(path=PATH, filters=read(str(first).partition("?")[2]))
    assert again == first


@pytest.mark.parametrize(
    "filters",
    [Filters(), Filters(severity="High", query="a&b=ü", page=3, page_size=50), Filters(status="all")],
)
def test_filters_are_stored_as_text_without_their_page(filters):
    assert Filters.from_text(filters.as_text()) == filters.without_page


@pytest.mark.parametrize(
    "text", ["severity=Extreme", "severity=high", "x=y", "severity=High&page=2", "&", "severity="]
)
def test_stored_filters_that_are_not_understood_are_none(text):
    assert Filters.from_text(text) is None
