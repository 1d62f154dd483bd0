from django.http import HttpResponse, HttpResponseNotFound

from config.web.static_files import CollectedFiles, StaticFiles


def test_static_files_are_served_and_the_list_of_them_is_not(settings, tmp_path, rf):
    (tmp_path / "a.css").write_text("a { }")
    for name in ("staticfiles.json", "staticfiles.json.new"):
        (tmp_path / name).write_text("{}")
    settings.STATIC_ROOT, settings.DEBUG = tmp_path, False
    served = StaticFiles(lambda _request: HttpResponseNotFound())
    names = ("a.css", "staticfiles.json", "staticfiles.json.new")
    answers = [served(rf.head(f"/static/{name}")) for name in names]
    assert [answer.status_code for answer in answers] == [HttpResponse.status_code, 404, 404]


def test_a_process_that_starts_while_files_are_collected_reads_the_former_list(tmp_path, monkeypatch):
    def collected():
        return CollectedFiles(location=tmp_path, base_url="/static/")

    former, new, read = collected(), collected(), []
    former.hashed_files = {"a.css": "a.1.css"}
    former.save_manifest()
    save = new._save

    def save_slowly(*args):
        read.append(collected().hashed_files)
        return save(*args)

    monkeypatch.setattr(new, "_save", save_slowly)
    new.hashed_files = {"a.css": "a.2.css"}
    new.save_manifest()
    assert read == [{"a.css": "a.1.css"}]
    assert collected().hashed_files == {"a.css": "a.2.css"}
