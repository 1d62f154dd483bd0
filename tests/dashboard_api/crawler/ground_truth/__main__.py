"""Scan every website of the ground truth, and print what was found, missed and extra by rule.

``python -m tests.dashboard_api.crawler.ground_truth``; words as arguments limit it to lines with them.
"""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from tests.dashboard_api.crawler.ground_truth import figures, table  # noqa: E402 - after the setup


def main(words):
    """Print what differs by website, then the figures."""
    chosen = [each for each in table.websites() if all(word in each.line for word in words)]
    results = []
    with figures.scanning() as scanned:
        for website in chosen:
            results.append(result := scanned(website))
            if result.missed or result.extra:
                print(f"{website.line}: {website.name}: missed {result.missed}, extra {result.extra}")
    print(*figures.table_of(results), sep="\n")
    good = sum(not each.wanted for each in chosen)
    most = max((each.requests for each in results), default=0)
    print(f"{len(chosen)} websites, {good} of them without a finding; at most {most} requests to one")
    sys.exit(any(each.missed or each.extra for each in results))


if __name__ == "__main__":
    main(sys.argv[1:])
