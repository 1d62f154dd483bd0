"""On SQLite the counts lie in the tree of their key, not in a second one beside it: decision record 0034."""

from django.db import migrations

TABLES = [
    "dashboard_api_bucketcount",
    "dashboard_api_stretchcount",
    "dashboard_api_weekcount",
    "dashboard_api_daycount",
]
IN_ONE_TREE = " WITHOUT ROWID"


def put_in_one_tree(apps, schema_editor):
    remake(schema_editor, lambda statement: statement + IN_ONE_TREE)


def put_in_two_trees(apps, schema_editor):
    remake(schema_editor, lambda statement: statement.removesuffix(IN_ONE_TREE))


def remake(schema_editor, changed):
    """Without renaming anything: SQLite would look for what the triggers name while it is not there."""
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(
                "SELECT sql FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL ORDER BY type DESC",
                [table],
            )
            (made,), *indexes = cursor.fetchall()
            cursor.execute(f"CREATE TABLE kept_counts AS SELECT * FROM {table}")  # noqa: S608
            cursor.execute(f"DROP TABLE {table}")
            cursor.execute(changed(made))
            cursor.execute(f"INSERT INTO {table} SELECT * FROM kept_counts")  # noqa: S608
            cursor.execute("DROP TABLE kept_counts")
            for (index,) in indexes:
                cursor.execute(index)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0011_plain_entries")]

    operations = [migrations.RunPython(put_in_one_tree, put_in_two_trees)]
