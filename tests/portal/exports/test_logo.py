"""The file that REPORT_LOGO names."""

import pytest

from portal.exports.logo import MAX_LOGO_BYTES, LogoError, read_logo


@pytest.mark.parametrize(
    ("start", "kind"), [(b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"<svg", "svg")]
)
def test_the_format_is_known_by_the_content(tmp_path, start, kind):
    file = tmp_path / "logo"
    file.write_bytes(start + b"rest")
    logo = read_logo(str(file))
    assert (logo.content, logo.format) == (start + b"rest", kind)


def test_without_a_path_there_is_no_logo():
    assert read_logo("") is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file"), (b"GIF89a", "not a PNG"), (b"<svg" + b" " * MAX_LOGO_BYTES, "256 KB")],
)
def test_a_logo_that_cannot_be_used_says_why(tmp_path, content, reason):
    file = tmp_path / "logo"
    if content:
        file.write_bytes(content)
    with pytest.raises(LogoError, match=reason):
        read_logo(str(file))
