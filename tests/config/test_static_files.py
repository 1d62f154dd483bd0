from django.http import HttpResponse, HttpResponseNotFound

from config.static_files import StaticFiles


def test_static_files_are_served_and_the_list_of_them_is_not(settings, tmp_path, rf):
    (tmp_path / "a.css").write_text("a { }")
    (tmp_path / "staticfiles.json").write_text("{}")
    settings.STATIC_ROOT, settings.DEBUG = tmp_path, False
    served = StaticFiles(lambda _request: HttpResponseNotFound())
    answers = [served(rf.head(f"/static/{name}")) for name in ("a.css", "staticfiles.json")]
    assert [answer.status_code for answer in answers] == [HttpResponse.status_code, 404]
