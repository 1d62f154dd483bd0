"""The code before an update serves on: migrations only add what it does not need to know."""

from django.apps import apps
from django.db import migrations
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED

_TAKE_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.DeleteModel,
    migrations.AlterModelTable,
)


def breaks_earlier_code(operation):
    """Return whether code without the operation cannot read or write the tables any more."""
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        return any(map(breaks_earlier_code, operation.database_operations))
    if isinstance(operation, migrations.AddField):
        field = operation.field
        return not (field.null or field.many_to_many or field.db_default is not NOT_PROVIDED)
    return isinstance(operation, _TAKE_AWAY)


def test_no_migration_after_an_apps_first_breaks_the_code_before_it():
    ours = {app.label for app in apps.get_app_configs() if "site-packages" not in app.path}
    later = [
        (name, operation)
        for name, migration in MigrationLoader(None, ignore_no_migrations=True).disk_migrations.items()
        if name[0] in ours and not migration.initial
        for operation in migration.operations
    ]
    assert len(later) > 5
    assert [name for name, operation in later if breaks_earlier_code(operation)] == []
