"""Make a database of the initial migrations with a row in every table, migrate it, and count what is kept."""

import uuid
from datetime import timedelta

import django
from django.core.management import call_command
from django.db import connections, models, router
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

APPS = ("audit", "config", "dashboard_api", "portal")
VALUES = {
    models.BinaryField: b"x",
    models.BooleanField: False,
    models.DateField: timezone.now().date(),
    models.DateTimeField: timezone.now(),
    models.DurationField: timedelta(hours=1),
    models.FloatField: 1.0,
    models.GenericIPAddressField: "192.0.2.1",
    models.IntegerField: 0,
    models.JSONField: {},
    models.UUIDField: uuid.UUID(int=1),
}


def main():
    django.setup()
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)  # the apps of libraries, too
        for app in APPS:
            call_command("migrate", app, "0001_initial", database=alias, verbosity=0)
    state = MigrationLoader(None).project_state([(app, "0001_initial") for app in APPS]).apps
    made = {}
    for app in APPS:
        for model in state.get_app_config(app).get_models():
            make(model, made)
    before = {model: stored(model) for model in made}
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    ours = [model for model in made if model._meta.app_label in APPS]
    print(len(ours), sum(stored(model) == before[model] for model in ours))  # noqa: T201


def make(model, made):
    """Return the row of a model, made with the rows to which it refers."""
    if model not in made:
        fields = {}
        for field in model._meta.concrete_fields:
            if field.is_relation and not field.null:
                fields[field.name] = make(field.related_model, made)
            elif not (has_value(field) or isinstance(field, models.AutoField)):
                fields[field.name] = value_of(field)
        made[model] = model(**fields)
        made[model].save(using=router.db_for_write(model))
    return made[model]


def has_value(field):
    return field.null or field.blank or field.has_default() or field.has_db_default()


def value_of(field):
    if field.choices:
        return field.choices[0][0]
    for kind in type(field).__mro__:
        if kind in VALUES:
            return VALUES[kind]
    return "x"


def stored(model):
    """Return the rows of a model, with the columns of its first release."""
    columns = ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields)
    with connections[router.db_for_write(model)].cursor() as cursor:
        cursor.execute(f'SELECT {columns} FROM "{model._meta.db_table}"')
        return cursor.fetchall()


if __name__ == "__main__":
    main()
