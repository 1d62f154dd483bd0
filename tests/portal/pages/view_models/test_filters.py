from datetime import timedelta

from django.utils import timezone

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.filters import (
    chips,
    clear_url,
    facets,
    host_facet,
    pager,
    period_facet,
    sorts,
    status_facet,
    views,
)
from portal.texts import labels
from tests.portal.dashboards import make_facets, make_page

PATH = "/sites/shop.example.com/"


def at(**filters):
    return Address(path=PATH, filters=Filters(**filters))


def options_of(name, address, **counts):
    return {option.label: option for option in facet_of(name, address, facets=make_facets(**counts)).options}


def facet_of(name, address, **page):
    (facet,) = (facet for facet in facets(make_page(**page), address) if facet.name == name)
    return facet


def test_a_value_leads_to_the_list_it_would_leave():
    option = options_of("severity", at(kind="confirmed", page=3))["High"]
    assert (option.count, option.url) == (2, PATH + "?severity=High&kind=confirmed")


def test_a_value_that_would_leave_nothing_is_shown_but_leads_nowhere():
    option = options_of("severity", at())["Low"]
    assert (option.count, option.url) == (0, "")


def test_the_active_value_leads_back_even_where_it_leaves_nothing():
    option = options_of("severity", at(severity="Low"))["Low"]
    assert (option.is_active, option.url) == (True, PATH)


def test_facets_use_the_portals_words_and_fall_back_to_the_services():
    assert set(options_of("kind", at())) == {"Confirmed", "Suspected", "Informational"}
    assert set(options_of("source", at())) == {"Nuclei", "ZAP"}


def test_a_chip_removes_its_filter_alone():
    by_name = {
        chip.name: chip for chip in chips(make_facets(), at(severity="High", source="zap", query="a b"))
    }
    assert {name: chip.value for name, chip in by_name.items()} == {
        "severity-high": "High",
        "source-zap": "ZAP",
        "query": "“a b”",
    }
    assert by_name["source-zap"].url == PATH + "?severity=High&query=a+b"


def test_pages_are_elided_around_the_current_one():
    pages = pager(make_page(total=1180, page_count=59), at(page=30))
    assert [link.text for link in pages.links] == ["1", "…", "29", "30", "31", "…", "59"]
    assert [link.text for link in pages.links if not link.url] == ["…", "30", "…"]
    assert (pages.previous_url, pages.next_url) == (PATH + "?page=29", PATH + "?page=31")


def test_the_deepest_page_says_how_to_see_the_other_findings():
    endless = {"total": 20500, "page_count": 501}
    assert pager(make_page(**endless), at(page=499)).remark == ""
    deepest = pager(make_page(**endless), at(page=500))
    assert deepest.remark == (
        "The list ends after the worst 10,000 findings. Filter or search to see the others."
    )
    assert deepest.next_url == ""
    assert [link.text for link in deepest.links][-2:] == ["499", "500"]


def test_the_ends_lead_no_further():
    assert pager(make_page(total=40, page_count=2), at()).previous_url == ""
    assert pager(make_page(total=40, page_count=2), at(page=2)).next_url == ""


def test_a_single_page_needs_no_links():
    assert pager(make_page(total=20, page_count=1), at()).links == ()


def test_a_page_past_the_end_leads_back_to_the_last():
    pages = pager(make_page(total=40, page_count=2), at(page=9))
    assert (pages.previous_url, pages.next_url) == (PATH + "?page=2", "")
    assert all(link.url for link in pages.links)


def test_page_sizes_are_offered_where_they_change_anything():
    assert pager(make_page(total=20, page_count=1), at()).sizes == ()
    sizes = pager(make_page(total=21, page_count=2), at(page=2)).sizes
    assert [(link.text, link.url) for link in sizes] == [
        ("20", ""),
        ("50", PATH + "?page_size=50"),
        ("100", PATH + "?page_size=100"),
    ]


def test_one_status_is_always_active_and_open_is_the_default():
    counts = make_facets(status={"open": 2, "fixed": 1, "all": 3})
    usual = {option.label: option for option in status_facet(counts, at(severity="High")).options}
    assert [label for label, option in usual.items() if option.is_active] == ["Open"]
    assert usual["Fixed"].url == PATH + "?status=fixed&severity=High"
    assert usual["Open"].url == PATH + "?severity=High"
    fixed = {option.label: option for option in status_facet(counts, at(status="fixed")).options}
    assert [label for label, option in fixed.items() if option.is_active] == ["Fixed"]
    assert (fixed["Fixed"].url, fixed["Open"].url) == (PATH, PATH)
    assert fixed["All"].url == PATH + "?status=all"


def test_a_status_that_would_leave_nothing_leads_nowhere_unless_it_is_shown():
    counts = make_facets(status={"open": 2, "fixed": 0, "accepted_risk": 0, "false_positive": 1, "all": 3})
    assert status_facet(counts, at()).remark == ""
    options = {option.label: option for option in status_facet(counts, at(status="accepted_risk")).options}
    assert [option.count for option in options.values()] == [2, 0, 0, 1, 3]
    assert options["Fixed"].url == ""
    assert options["Accepted risk"].url == PATH
    assert options["All"].url == PATH + "?status=all"


def test_another_status_than_open_is_a_chip():
    (chip,) = chips(make_facets(), at(status="accepted_risk"))
    assert (chip.title, chip.value, chip.url) == ("Status", "Accepted risk", PATH)
    assert clear_url(at(status="all", query="x")) == PATH


def test_a_second_value_is_added_and_either_can_be_taken_away():
    options = options_of("severity", at(severity="Critical"), severity={"High": 2, "Critical": 1})
    assert options["High"].url == PATH + "?severity=Critical%2CHigh"
    options = options_of("severity", at(severity="Critical,High"), severity={"High": 2, "Critical": 1})
    assert {label for label, option in options.items() if option.is_active} == {"Critical", "High"}
    assert options["Critical"].url == PATH + "?severity=High"


def test_every_value_has_a_chip_of_its_own():
    shown = chips(make_facets(), at(severity="Critical,High", since="7"))
    assert [(chip.title, chip.value, chip.url) for chip in shown] == [
        ("Severity", "Critical", PATH + "?severity=High&since=7"),
        ("Severity", "High", PATH + "?severity=Critical&since=7"),
        ("First seen", "Last 7 days", PATH + "?severity=Critical%2CHigh"),
    ]
    assert clear_url(at(severity="Critical,High", since="7", problem="abc")) == PATH


def test_a_problem_is_named_by_its_title():
    (chip,) = chips(make_facets(), at(problem="0123456789abcdef"), problem_title="SQL injection")
    assert (chip.title, chip.value, chip.url) == ("Problem", "SQL injection", PATH)


def test_the_last_days_can_be_chosen_and_left():
    options = period_facet(at(since="7", severity="High")).options
    assert [(option.label, option.is_active) for option in options] == [
        ("Today", False), ("Last 7 days", True), ("Last 30 days", False),
    ]  # fmt: skip
    assert [option.url for option in options] == [
        PATH + "?severity=High&since=1", PATH + "?severity=High", PATH + "?severity=High&since=30",
    ]  # fmt: skip


def test_a_list_can_begin_with_the_last_visit():
    day = timezone.now().date() - timedelta(days=3)
    *_, option = period_facet(at(), last_visit=day).options
    assert option.label == f"Since your last visit, {labels.day_and_month(day)}"
    assert option.url == PATH + "?since=4"


def test_an_age_and_other_days_are_named():
    *_, option = period_facet(at(since="8-30")).options
    assert (option.label, option.is_active, option.url) == ("8 to 30 days ago", True, PATH)
    (chip,) = chips(make_facets(), at(since="366-"))
    assert (chip.title, chip.value) == ("First seen", "Over 365 days ago")
    assert chips(make_facets(), at(since="4"))[0].value == "Last 4 days"
    assert chips(make_facets(), at(since="0-7"))[0].value == "Up to 7 days ago"


def test_fixed_findings_are_filtered_by_the_days_of_the_fix():
    facet = period_facet(at(status="fixed", fixed="7"))
    assert facet.title == "Fixed"
    assert facet.options[2].url == PATH + "?status=fixed&fixed=30"
    assert chips(make_facets(), at(status="fixed", fixed="7"))[1].value == "Last 7 days"


def test_the_list_has_two_views_and_three_orders():
    assert [(choice.text, choice.url) for choice in views(at(severity="High"))] == [
        ("Findings", ""), ("Problems", PATH + "?severity=High&view=problems"),
    ]  # fmt: skip
    assert [(choice.text, choice.url) for choice in views(at(view="problems", page=2))] == [
        ("Findings", PATH), ("Problems", ""),
    ]  # fmt: skip
    assert [(choice.text, choice.url) for choice in sorts(at(sort="newest"))] == [
        ("Worst first", PATH), ("Newest first", ""), ("Oldest first", PATH + "?sort=oldest"),
    ]  # fmt: skip


def test_problems_have_one_order_more_than_findings():
    assert views(at(problem="abc")) == ()
    problems = at(view="problems", sort="locations")
    assert [choice.text for choice in sorts(problems)] == [
        "Worst first", "Newest first", "Oldest first", "Most locations",
    ]  # fmt: skip
    assert [choice.key for choice in sorts(problems) if not choice.url] == ["sort-locations"]
    assert [choice.url for choice in views(problems)] == [PATH, ""]
    assert views(at(sort="newest"))[1].url == PATH + "?sort=newest&view=problems"
    assert problems.of_problem("abc") == PATH + "?problem=abc"
    assert problems.of_fix("abc") == PATH + "?problem=abc#findings-title"
    assert problems.of_fix("../x") == ""


def test_hosts_are_offered_where_there_are_several():
    assert host_facet(make_page(facets=make_facets(hosts={"shop.example.com": 9})), at()) == ()
    hosts = {f"h{number}.example.com": 20 - number for number in range(12)}
    page = make_page(facets=make_facets(hosts=hosts))
    (facet,) = host_facet(page, at())
    assert (len(facet.options), len(facet.folded)) == (8, 4)
    assert facet.options[0].url == PATH + "?hosts=h0.example.com"
    (facet,) = host_facet(page, at(hosts="h11.example.com"))
    assert [option.key for option in facet.options][:2] == [
        "facet-hosts-h11.example.com", "facet-hosts-h0.example.com",
    ]  # fmt: skip
    assert facet.options[1].url == PATH + "?hosts=h11.example.com%2Ch0.example.com"
    (chip,) = chips(page.facets, at(hosts="h11.example.com"))
    assert (chip.title, chip.value, chip.url) == ("Host", "h11.example.com", PATH)


def test_a_search_keeps_its_problem_its_days_and_its_order():
    fields = {"query": "x", "since": "7", "problem": "abc", "sort": "newest"}
    shown = chips(make_facets(), at(**fields), problem_title="SQL injection")
    assert [chip.name for chip in shown] == ["since", "problem", "query"]
    assert [choice.key for choice in sorts(at(**fields)) if not choice.url] == ["sort-newest"]
    assert period_facet(at(**fields)).options[0].url == (PATH + "?since=1&problem=abc&query=x&sort=newest")
    assert at(query="x", severity="High", view="problems").of_problem("abc") == (
        PATH + "?severity=High&problem=abc&query=x"
    )


def test_pages_of_problems_are_counted_by_problems():
    page = make_page(total=500, page_count=2, problem_total=30)
    shown = pager(page, at(view="problems"))
    assert [link.text for link in shown.links] == ["1", "2"]
    assert [link.text for link in shown.sizes] == ["20", "50", "100"]
    assert pager(make_page(total=500, page_count=1, problem_total=9), at(view="problems")).sizes == ()
