from django.utils import translation

from portal.pages.view_models import help_page
from portal.texts import labels


def test_every_word_of_the_pages_is_explained():
    words = {term.word for group in help_page().groups for term in group.terms}
    for table in (labels.SEVERITIES, labels.KINDS, labels.ROLES):
        assert {str(word) for word in table.values()} <= words
    assert {*labels.GRADE_MEANINGS, str(labels.VERIFIED)} <= words


def test_no_explanation_is_missing_or_untranslated():
    english = [term.meaning for group in help_page().groups for term in group.terms]
    with translation.override("de"):
        german = [term.meaning for group in help_page().groups for term in group.terms]
    assert all(english)
    assert not set(english) & set(german)


def test_support_is_offered_where_there_is_some(settings):
    assert help_page().support_url == settings.SUPPORT_URL
