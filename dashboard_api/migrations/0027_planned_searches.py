"""Plan the statements of PostgreSQL's searches once a connection, not at each step of each search (record 0173)."""

from typing import ClassVar

from django.db import migrations

_FUNCTIONS = ("dashboard_api_search", "dashboard_api_search_by_id")


def _on_postgresql(action):
    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            for function in _FUNCTIONS:
                schema_editor.execute(f"ALTER FUNCTION {function} {action}", params=None)

    return run


class Migration(migrations.Migration):
    dependencies: ClassVar = [("dashboard_api", "0026_confirmed_findings")]

    operations: ClassVar = [
        migrations.RunPython(
            _on_postgresql("SET plan_cache_mode = force_generic_plan"),
            _on_postgresql("RESET plan_cache_mode"),
            hints={"model_name": "finding"},
        )
    ]
