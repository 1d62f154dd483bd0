"""Tables of the service; later migrations only add to them."""

import uuid
from pathlib import Path

import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.db import migrations, models


def sql_of(model):
    """Return the operation that runs the file of ``model`` for this database; blank lines part statements."""

    def create(apps, schema_editor):
        path = Path(__file__).with_name(f"0001_{model}.{schema_editor.connection.vendor}.sql")
        for statement in path.read_text(encoding="utf-8").split("\n\n") if path.exists() else ():
            schema_editor.execute(statement, params=None)

    return migrations.RunPython(create, hints={"model_name": model})


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "ref",
                    models.CharField(
                        help_text="portal_account_ref in signed calls, such as acct_0001; it cannot change later.",
                        max_length=128,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[!-~]+\\Z", "Use printable ASCII characters without spaces."
                            )
                        ],
                        verbose_name="reference",
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "calls_per_second",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Calls per second that the customer may make; empty: the same as everyone.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(9999),
                        ],
                        verbose_name="calls per second",
                    ),
                ),
                (
                    "calls_burst",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Calls that may come at once before the rate applies; empty: the same as everyone.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(9999),
                        ],
                        verbose_name="calls at once",
                    ),
                ),
                (
                    "publicity",
                    models.CharField(
                        choices=[
                            ("nothing", "nothing"),
                            ("counted", "counted in the statistics"),
                            ("shown", "counted, and shown in the live feed with a masked domain"),
                        ],
                        db_default="counted",
                        default="counted",
                        help_text="What may be published about its websites; owners choose it in the portal.",
                        max_length=7,
                        verbose_name="publicity",
                    ),
                ),
                (
                    "billing_ref",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        unique=True,
                        verbose_name="reference for payments",
                    ),
                ),
            ],
            options={
                "verbose_name": "customer",
                "verbose_name_plural": "customers",
                "ordering": ["ref"],
            },
        ),
        migrations.CreateModel(
            name="CallOutcome",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "nonce", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("account_id", models.BigIntegerField()),
                ("nonce", models.CharField(max_length=128)),
                ("status", models.SmallIntegerField()),
                ("code", models.CharField(max_length=40)),
            ],
        ),
        migrations.CreateModel(
            name="CrawlerStop",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("stopped_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("by", models.CharField(max_length=150)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("resumed_at", models.DateTimeField(blank=True, null=True)),
                ("resumed_by", models.CharField(blank=True, max_length=150)),
            ],
            options={
                "verbose_name": "stop of all scans",
                "verbose_name_plural": "stops of all scans",
                "ordering": ["-stopped_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ForgottenAccount",
            fields=[
                ("account_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="ImportRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("imported_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("scanned_at", models.DateTimeField()),
                ("by", models.CharField(blank=True, max_length=150)),
                ("file_name", models.CharField(blank=True, max_length=255)),
                (
                    "digest",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="SHA-256 of the file; with its time it identifies the import.",
                        max_length=64,
                    ),
                ),
                (
                    "file_modified_at",
                    models.DateTimeField(
                        editable=False, help_text="The modification time of a file from an inbox.", null=True
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "Ok"), ("partial", "Partial"), ("failed", "Failed")], max_length=10
                    ),
                ),
                ("detail", models.CharField(blank=True, max_length=500)),
                (
                    "scope",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Scope in which missing findings counted as fixed.",
                        max_length=500,
                    ),
                ),
                ("rows", models.PositiveIntegerField()),
                ("findings", models.PositiveIntegerField()),
                ("occurrences", models.PositiveIntegerField(verbose_name="further locations")),
                ("coverage", models.PositiveIntegerField()),
                ("rejected", models.PositiveIntegerField()),
                ("new", models.PositiveIntegerField()),
                ("updated", models.PositiveIntegerField()),
                ("reopened", models.PositiveIntegerField()),
                ("fixed", models.PositiveIntegerField()),
                (
                    "newest_finding_id",
                    models.BigIntegerField(
                        editable=False,
                        help_text="Newest finding of the website when the import ended; the change feed groups findings by it.",
                        null=True,
                    ),
                ),
                ("newest_event_id", models.BigIntegerField(editable=False, null=True)),
                (
                    "rejects",
                    models.JSONField(
                        blank=True, default=list, help_text="The first rejected rows, with reasons."
                    ),
                ),
                (
                    "undone_at",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="taken back at"),
                ),
                (
                    "undone_by",
                    models.CharField(
                        blank=True, default="", editable=False, max_length=150, verbose_name="taken back by"
                    ),
                ),
                (
                    "undone_reason",
                    models.CharField(
                        blank=True,
                        default="",
                        editable=False,
                        max_length=500,
                        verbose_name="taken back because",
                    ),
                ),
            ],
            options={
                "verbose_name": "import",
                "verbose_name_plural": "imports",
                "ordering": ["-imported_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "website_id",
                    models.BigIntegerField(
                        help_text="0: data shared by all websites.", primary_key=True, serialize=False
                    ),
                ),
                ("tag", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="SecretUse",
            fields=[
                ("secret_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("last_used_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(unique=True)),
                ("name", models.CharField(max_length=100)),
                (
                    "enabled",
                    models.BooleanField(
                        default=True, help_text="Websites that it never checked show it as not checked."
                    ),
                ),
                (
                    "interval_days",
                    models.PositiveSmallIntegerField(
                        default=7,
                        help_text="Days; a website that was not checked for longer is shown as overdue.",
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="checks every",
                    ),
                ),
            ],
            options={
                "verbose_name": "scanner",
                "verbose_name_plural": "scanners",
                "ordering": ["slug"],
            },
        ),
        migrations.CreateModel(
            name="Usage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("account_id", models.BigIntegerField()),
                ("day", models.DateField()),
                ("calls", models.IntegerField()),
                ("arrival", models.BigIntegerField()),
            ],
            options={
                "ordering": ["account_id", "day"],
            },
        ),
        migrations.CreateModel(
            name="CallRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(verbose_name="time")),
                ("account_id", models.BigIntegerField(verbose_name="account")),
                ("secret_id", models.BigIntegerField(verbose_name="secret")),
                ("link_id", models.BigIntegerField(null=True, verbose_name="link")),
                ("route", models.CharField(max_length=32, verbose_name="route")),
                ("request_id", models.CharField(db_index=True, max_length=64, verbose_name="request id")),
                ("address", models.CharField(max_length=64, verbose_name="address")),
                ("status", models.SmallIntegerField(verbose_name="status")),
                ("code", models.CharField(max_length=40, verbose_name="error code")),
            ],
            options={
                "verbose_name": "call",
                "verbose_name_plural": "calls",
                "ordering": ["-at", "-id"],
                "indexes": [
                    models.Index(fields=["account_id", "at"], name="dashboard_api_call_of_account"),
                    models.Index(fields=["at"], name="dashboard_api_call_at"),
                    models.Index(
                        condition=models.Q(("status", 200), _negated=True),
                        fields=["account_id", "at"],
                        name="dashboard_api_call_refused",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content", models.BinaryField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="dashboard_api.importrun",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Nonce",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "nonce", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("account_id", models.BigIntegerField()),
                ("nonce", models.CharField(max_length=128)),
                ("expires_at", models.BigIntegerField(help_text="Unix seconds.")),
                ("at", models.DateTimeField(null=True)),
                ("secret_id", models.BigIntegerField(db_default=0, default=0)),
                ("link_id", models.BigIntegerField(null=True)),
                ("route", models.CharField(db_default="", default="", max_length=32)),
                ("request_id", models.CharField(db_default="", default="", max_length=64)),
                ("address", models.CharField(db_default="", default="", max_length=64)),
            ],
            options={
                "ordering": ["expires_at"],
                "indexes": [models.Index(fields=["expires_at"], name="dashboard_api_nonce_expiry")],
            },
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "slug",
                    models.SlugField(
                        help_text="Such as team; it cannot change.", verbose_name="name in programs"
                    ),
                ),
                ("revision", models.PositiveIntegerField(default=1, editable=False, verbose_name="revision")),
                (
                    "name",
                    models.JSONField(
                        help_text='By language, such as {"en": "Team", "de": "Team"}.', verbose_name="name"
                    ),
                ),
                (
                    "rank",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Smaller plans come first.", verbose_name="rank"
                    ),
                ),
                (
                    "limits",
                    models.JSONField(
                        default=dict,
                        help_text='Such as {"websites": 5, "seats": 3}; missing limits mean unlimited.',
                        verbose_name="limits",
                    ),
                ),
                (
                    "features",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text='Such as ["scans_daily", "deep_scans"].',
                        verbose_name="features",
                    ),
                ),
                ("trial_days", models.PositiveSmallIntegerField(default=0, verbose_name="days of trial")),
                (
                    "price_text",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="By language, as customers read it.",
                        verbose_name="price",
                    ),
                ),
                (
                    "is_offered",
                    models.BooleanField(
                        default=True, help_text="Customers see it among the plans.", verbose_name="offered"
                    ),
                ),
                ("used_at", models.DateTimeField(editable=False, null=True, verbose_name="used since")),
            ],
            options={
                "verbose_name": "plan",
                "verbose_name_plural": "plans",
                "ordering": ["rank", "slug", "-revision"],
                "constraints": [
                    models.UniqueConstraint(fields=("slug", "revision"), name="dashboard_api_plan_revision"),
                    models.CheckConstraint(
                        condition=models.Q(("revision__gte", 1)), name="dashboard_api_plan_revision_from_1"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Published",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("statistics", "statistics"), ("feed", "live feed")],
                        max_length=10,
                        unique=True,
                    ),
                ),
                ("made_at", models.DateTimeField()),
                ("body", models.TextField()),
            ],
            options={
                "verbose_name": "published document",
                "verbose_name_plural": "published documents",
                "ordering": ["kind"],
            },
        ),
        migrations.CreateModel(
            name="ScanOptOut",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("host", "host"),
                            ("domain", "domain with all its hosts"),
                            ("prefix", "prefix of addresses"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "value",
                    models.CharField(
                        help_text="Such as shop.example.com, example.com or 192.0.2.0/24.", max_length=253
                    ),
                ),
                ("reason", models.CharField(help_text="Who asked for it, and how.", max_length=500)),
                ("by", models.CharField(editable=False, max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "verbose_name": "opt-out of scans",
                "verbose_name_plural": "opt-outs of scans",
                "ordering": ["kind", "value"],
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "value"), name="dashboard_api_scanoptout_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SiteLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("link_id", models.CharField(editable=False, max_length=36, unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "paused_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="Calls are refused, because the plan includes fewer websites.",
                        null=True,
                    ),
                ),
                ("chosen_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "publicity",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("nothing", "nothing"),
                            ("counted", "counted in the statistics"),
                            ("shown", "counted, and shown in the live feed with a masked domain"),
                        ],
                        db_default="",
                        default="",
                        editable=False,
                        help_text="Applies only if it is stricter than the account's; empty: the same as the account's.",
                        max_length=7,
                        verbose_name="publicity",
                    ),
                ),
                (
                    "region",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        max_length=3,
                        verbose_name="region",
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="dashboard_api.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "link",
                "verbose_name_plural": "links",
                "ordering": ["account", "website"],
            },
        ),
        migrations.CreateModel(
            name="ScanConsent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "link",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scan_consents",
                        to="dashboard_api.sitelink",
                    ),
                ),
            ],
            options={
                "verbose_name": "consent to deep scans",
                "verbose_name_plural": "consents to deep scans",
                "ordering": ["-at"],
            },
        ),
        migrations.AddField(
            model_name="importrun",
            name="source",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="imports",
                to="dashboard_api.source",
                verbose_name="scanner",
            ),
        ),
        migrations.CreateModel(
            name="Finding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="Identifies the finding in later reports.",
                        max_length=64,
                    ),
                ),
                (
                    "severity",
                    models.PositiveSmallIntegerField(
                        choices=[(4, "Critical"), (3, "High"), (2, "Medium"), (1, "Low"), (0, "Info")]
                    ),
                ),
                (
                    "severity_raw",
                    models.CharField(
                        blank=True, help_text="The scanner's own word for the severity.", max_length=50
                    ),
                ),
                (
                    "source_severity",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        choices=[(4, "Critical"), (3, "High"), (2, "Medium"), (1, "Low"), (0, "Info")],
                        help_text="The scanner's severity, where an analyst has overridden it.",
                        null=True,
                        verbose_name="severity by the scanner",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("confirmed", "confirmed"),
                            ("suspected", "suspected"),
                            ("informational", "informational"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "source_kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("confirmed", "confirmed"),
                            ("suspected", "suspected"),
                            ("informational", "informational"),
                        ],
                        help_text="The scanner's kind, where an analyst has confirmed the finding.",
                        max_length=13,
                        null=True,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("fixed", "Fixed"),
                            ("false_positive", "False Positive"),
                            ("accepted_risk", "Accepted Risk"),
                        ],
                        default="open",
                        max_length=14,
                    ),
                ),
                (
                    "triage_until",
                    models.DateField(
                        blank=True, help_text="The last day of the decision; empty: no end.", null=True
                    ),
                ),
                (
                    "reviewed_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When an analyst first reviewed it; empty: not reviewed yet.",
                        null=True,
                    ),
                ),
                ("words", models.TextField(default="", editable=False)),
                ("title", models.CharField(max_length=500)),
                ("description", models.TextField(blank=True)),
                ("remediation", models.TextField(blank=True)),
                ("references", models.JSONField(blank=True, default=list)),
                ("cwe", models.JSONField(blank=True, default=list, help_text="Numbers.", verbose_name="CWE")),
                ("cve", models.JSONField(blank=True, default=list, verbose_name="CVE")),
                ("rule", models.CharField(blank=True, max_length=300)),
                (
                    "problem",
                    models.CharField(
                        editable=False, help_text="Shared key of findings with one cause.", max_length=16
                    ),
                ),
                ("location", models.CharField(blank=True, max_length=2000)),
                (
                    "host",
                    models.CharField(
                        editable=False, help_text="Host of the location; lists filter by it.", max_length=253
                    ),
                ),
                (
                    "other_locations",
                    models.TextField(
                        blank=True, help_text="Further locations for the search, one per line, up to a limit."
                    ),
                ),
                ("locations_count", models.PositiveIntegerField(default=0)),
                ("evidence", models.TextField(blank=True)),
                ("first_seen", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen", models.DateTimeField(default=django.utils.timezone.now)),
                ("fixed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="findings",
                        to="dashboard_api.source",
                        verbose_name="scanner",
                    ),
                ),
            ],
            options={
                "verbose_name": "finding",
                "verbose_name_plural": "findings",
                "ordering": ["-severity", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Website",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("host", models.CharField(max_length=253, unique=True)),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                ("verified_by", models.CharField(blank=True, max_length=150)),
                (
                    "verification_method",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("dns", "DNS record"),
                            ("file", "file on the website"),
                            ("meta", "meta tag"),
                            ("manual", "by hand"),
                        ],
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("archived_by", models.CharField(blank=True, max_length=150)),
                ("archive_reason", models.CharField(blank=True, max_length=500)),
                ("retired_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "verbose_name": "website",
                "verbose_name_plural": "websites",
                "ordering": ["host"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("archive_reason", ""), ("archived_at__isnull", True), ("archived_by", "")
                            ),
                            models.Q(
                                ("archived_at__isnull", False),
                                models.Q(("archived_by", ""), _negated=True),
                                models.Q(("archive_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="dashboard_api_website_archive_is_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("verification_method", ""),
                                ("verified_at__isnull", True),
                                ("verified_by", ""),
                            ),
                            models.Q(
                                ("verified_at__isnull", False),
                                models.Q(("verified_by", ""), _negated=True),
                                models.Q(("verification_method", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="dashboard_api_website_verification_is_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("uploaded_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("file_name", models.CharField(max_length=255)),
                ("content", models.BinaryField()),
                ("options", models.JSONField(help_text="The import options of the form.")),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="dashboard_api.website",
                    ),
                ),
            ],
            options={
                "ordering": ["-uploaded_at"],
            },
        ),
        migrations.CreateModel(
            name="StandingDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "rule",
                    models.CharField(
                        blank=True,
                        help_text="Empty: a minimum severity for all findings of the scanner.",
                        max_length=300,
                    ),
                ),
                (
                    "severity",
                    models.PositiveSmallIntegerField(
                        choices=[(4, "Critical"), (3, "High"), (2, "Medium"), (1, "Low"), (0, "Info")]
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        help_text="Customers read it in the timeline of each finding.", max_length=450
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                ("end_reason", models.CharField(blank=True, max_length=450)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="standing_decisions",
                        to="dashboard_api.source",
                        verbose_name="scanner",
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: all websites.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="standing_decisions",
                        to="dashboard_api.website",
                    ),
                ),
            ],
            options={
                "verbose_name": "suppression rule",
                "verbose_name_plural": "suppression rules",
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.AddField(
            model_name="sitelink",
            name="website",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="links", to="dashboard_api.website"
            ),
        ),
        migrations.CreateModel(
            name="ScanJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "profile",
                    models.CharField(
                        choices=[("quick", "quick"), ("standard", "standard"), ("deep", "deep")],
                        db_default="quick",
                        default="quick",
                        max_length=10,
                    ),
                ),
                (
                    "trigger",
                    models.CharField(
                        choices=[
                            ("first", "first scan"),
                            ("hand", "by hand"),
                            ("retest", "retest of a finding"),
                            ("schedule", "schedule"),
                        ],
                        db_default="hand",
                        default="hand",
                        max_length=10,
                    ),
                ),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "scheduled"), (1, "normal"), (2, "retest"), (3, "first")], default=1
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("due_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting"),
                            ("running", "running"),
                            ("finished", "finished"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("worker", models.CharField(blank=True, max_length=100)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("complete", "complete"),
                            ("partial", "partial"),
                            ("blocked", "blocked by the website"),
                            ("different", "the page looks different"),
                            ("gone", "no longer there"),
                            ("still_there", "still there"),
                            ("inconclusive", "inconclusive"),
                        ],
                        max_length=12,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=30)),
                (
                    "address",
                    models.GenericIPAddressField(
                        help_text="The address at which the website is scanned.", null=True
                    ),
                ),
                (
                    "progress",
                    models.JSONField(
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        editable=False,
                        help_text="The engines of a running scan, in their order.",
                    ),
                ),
                (
                    "page",
                    models.JSONField(
                        editable=False,
                        help_text="What the home page looked like; empty if the scan says nothing about it.",
                        null=True,
                    ),
                ),
                (
                    "page_confirmed_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When a member confirmed that the changed page is the website's own.",
                        null=True,
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        help_text="The account whose plan the scan counts for; empty for scans by staff.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="scan_jobs",
                        to="dashboard_api.account",
                    ),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        help_text="The finding that a retest looks for.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="retests",
                        to="dashboard_api.finding",
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scan_jobs",
                        to="dashboard_api.website",
                    ),
                ),
            ],
            options={
                "verbose_name": "scan",
                "verbose_name_plural": "scans",
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ReportToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Where it is used, such as GitHub Actions of the shop.", max_length=100
                    ),
                ),
                (
                    "sources",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Scanners whose reports it may send; empty: every scanner.",
                    ),
                ),
                (
                    "hint",
                    models.CharField(
                        editable=False, help_text="The first characters, to tell tokens apart.", max_length=32
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("created_by", models.CharField(max_length=150)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="report_tokens",
                        to="dashboard_api.account",
                    ),
                ),
                (
                    "websites",
                    models.ManyToManyField(related_name="report_tokens", to="dashboard_api.website"),
                ),
            ],
            options={
                "verbose_name": "token for reports",
                "verbose_name_plural": "tokens for reports",
                "ordering": ["account", "-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ReportJob",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("idempotency_key", models.CharField(blank=True, max_length=200)),
                ("digest", models.CharField(help_text="SHA-256 of the body.", max_length=64)),
                ("options", models.JSONField(help_text="The query parameters.")),
                (
                    "length",
                    models.BigIntegerField(db_default=0, default=0, help_text="Bytes after unpacking."),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("finished_at", models.DateTimeField(db_index=True, null=True)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("outcome", models.JSONField(null=True)),
                (
                    "token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="dashboard_api.reporttoken",
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="report_jobs",
                        to="dashboard_api.website",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="OpenCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("critical", models.IntegerField()),
                ("high", models.IntegerField()),
                ("medium", models.IntegerField()),
                ("low", models.IntegerField()),
                ("info", models.IntegerField()),
                ("suspected_critical", models.IntegerField()),
                ("suspected_high", models.IntegerField()),
                ("suspected_medium", models.IntegerField()),
                ("suspected_low", models.IntegerField()),
                (
                    "website",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="dashboard_api.website",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="importrun",
            name="website",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="imports",
                to="dashboard_api.website",
            ),
        ),
        migrations.AddField(
            model_name="finding",
            name="website",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="findings",
                to="dashboard_api.website",
            ),
        ),
        migrations.CreateModel(
            name="Coverage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "Ok"), ("partial", "Partial"), ("failed", "Failed")], max_length=10
                    ),
                ),
                ("last_run_at", models.DateTimeField()),
                (
                    "completed_at",
                    models.DateTimeField(
                        blank=True, help_text="When a run last completed; a grade needs one.", null=True
                    ),
                ),
                ("urls_checked", models.PositiveIntegerField(blank=True, null=True)),
                ("version", models.CharField(blank=True, max_length=50)),
                ("detail", models.CharField(blank=True, max_length=500)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="coverage",
                        to="dashboard_api.source",
                        verbose_name="scanner",
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="coverage",
                        to="dashboard_api.website",
                    ),
                ),
            ],
            options={
                "verbose_name": "coverage",
                "verbose_name_plural": "coverage",
                "ordering": ["website", "source"],
            },
        ),
        migrations.CreateModel(
            name="AnalystNote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("author", models.CharField(max_length=150)),
                ("body", models.TextField(help_text="Markdown; raw HTML is shown as text.")),
                (
                    "is_internal",
                    models.BooleanField(default=True, help_text="Internal notes never leave the service."),
                ),
                (
                    "is_pinned",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Customers see it at the top, next to what to do first; newest pinned note first.",
                        verbose_name="pinned",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "published_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When customers could first read it; empty: it is internal.",
                        null=True,
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: every account that links the website can read it.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="dashboard_api.account",
                    ),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="dashboard_api.finding",
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="dashboard_api.website",
                    ),
                ),
            ],
            options={
                "verbose_name": "analyst note",
                "verbose_name_plural": "analyst notes",
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="BillingCustomer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=20, verbose_name="provider")),
                ("customer", models.CharField(max_length=255, verbose_name="customer of the provider")),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="billing_customers",
                        to="dashboard_api.account",
                        verbose_name="customer",
                    ),
                ),
            ],
            options={
                "verbose_name": "customer of a provider",
                "verbose_name_plural": "customers of providers",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "customer"), name="dashboard_api_billingcustomer_one_account"
                    ),
                    models.UniqueConstraint(
                        fields=("provider", "account"), name="dashboard_api_billingcustomer_one_customer"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BillingNotice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("limit_near", "Limit Near"),
                            ("limit_reached", "Limit Reached"),
                            ("trial_ends", "Trial Ends"),
                            ("plan_ends", "Plan Ends"),
                            ("past_due", "Past Due"),
                            ("suspended", "Suspended"),
                            ("expired", "Expired"),
                            ("websites_over", "Websites Over"),
                        ],
                        max_length=20,
                    ),
                ),
                ("limit", models.CharField(blank=True, max_length=20)),
                ("period", models.CharField(blank=True, max_length=40)),
                ("days", models.IntegerField(null=True)),
                ("at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="billing_notices",
                        to="dashboard_api.account",
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "kind", "limit", "period"), name="dashboard_api_billingnotice_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CallbackEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=20, verbose_name="provider")),
                ("event_id", models.CharField(max_length=255, verbose_name="event")),
                ("type", models.CharField(blank=True, max_length=100, verbose_name="type")),
                ("occurred_at", models.DateTimeField(null=True, verbose_name="occurred")),
                (
                    "received_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="received"),
                ),
                ("object_id", models.CharField(blank=True, max_length=255, verbose_name="subscription")),
                (
                    "customer",
                    models.CharField(blank=True, max_length=255, verbose_name="customer of the provider"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("received", "received"),
                            ("applied", "applied"),
                            ("duplicate", "duplicate"),
                            ("superseded", "superseded"),
                            ("ignored", "ignored"),
                            ("waiting", "waiting for its account"),
                            ("failed", "failed"),
                            ("dead", "given up"),
                        ],
                        default="received",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("next_at", models.DateTimeField(null=True, verbose_name="next attempt")),
                ("error", models.CharField(blank=True, max_length=100, verbose_name="error")),
                ("before", models.JSONField(null=True, verbose_name="before")),
                ("after", models.JSONField(null=True, verbose_name="after")),
                ("sealed_body", models.TextField(blank=True)),
                (
                    "account",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="callbacks",
                        to="dashboard_api.account",
                        verbose_name="customer",
                    ),
                ),
            ],
            options={
                "verbose_name": "payment callback",
                "verbose_name_plural": "payment callbacks",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_at__isnull", False)),
                        fields=["next_at"],
                        name="dashboard_api_callback_due",
                    ),
                    models.Index(fields=["received_at"], name="dashboard_api_callback_age"),
                    models.Index(fields=["state"], name="dashboard_api_callback_state"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "event_id"), name="dashboard_api_callback_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CoverageScope",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("category", models.CharField(blank=True, max_length=200)),
                (
                    "target",
                    models.CharField(
                        blank=True,
                        help_text="Host and port; empty where reports do not name all of their targets.",
                        max_length=263,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "Ok"), ("partial", "Partial"), ("failed", "Failed")], max_length=10
                    ),
                ),
                ("last_run_at", models.DateTimeField()),
                ("completed_at", models.DateTimeField(blank=True, null=True)),
                ("urls_checked", models.PositiveIntegerField(blank=True, null=True)),
                ("version", models.CharField(blank=True, max_length=50)),
                ("detail", models.CharField(blank=True, max_length=500)),
                (
                    "coverage",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scopes",
                        to="dashboard_api.coverage",
                    ),
                ),
            ],
            options={
                "ordering": ["coverage", "category", "target"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("coverage", "category", "target"), name="dashboard_api_coveragescope_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Occurrence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("location", models.CharField(max_length=2000)),
                (
                    "location_digest",
                    models.CharField(editable=False, help_text="SHA-256 of the location.", max_length=64),
                ),
                ("evidence", models.TextField(blank=True)),
                ("first_seen", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "gone_at",
                    models.DateTimeField(
                        blank=True, help_text="When a complete scan no longer found it here.", null=True
                    ),
                ),
                (
                    "category",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Category of its last report; only reports of this category can prove that it is gone.",
                        max_length=200,
                    ),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="occurrences",
                        to="dashboard_api.finding",
                    ),
                ),
            ],
            options={
                "verbose_name": "location",
                "verbose_name_plural": "locations",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("finding", "location_digest"), name="dashboard_api_occurrence_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnershipClaim",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("host", models.CharField(max_length=253)),
                ("token", models.CharField(editable=False, max_length=50, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "waiting for the proof"),
                            ("contested", "contested"),
                            ("verified", "verified"),
                            ("failing", "proof missing"),
                            ("ended", "ended"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("dns", "DNS record"),
                            ("file", "file on the website"),
                            ("meta", "meta tag"),
                            ("manual", "by hand"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "strength",
                    models.CharField(
                        blank=True,
                        choices=[("dns", "DNS"), ("https", "https"), ("http", "http"), ("manual", "by hand")],
                        max_length=10,
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("link_problem", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("verified_at", models.DateTimeField(null=True)),
                ("contested_at", models.DateTimeField(null=True)),
                ("misses", models.PositiveSmallIntegerField(default=0)),
                ("missed_at", models.DateTimeField(null=True)),
                ("unasked_at", models.DateTimeField(null=True)),
                ("checks", models.JSONField(default=list)),
                ("checked_at", models.DateTimeField(null=True)),
                ("found_at", models.DateTimeField(null=True)),
                ("asked_at", models.DateTimeField(null=True)),
                ("asked_since", models.DateTimeField(null=True)),
                ("asked_count", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("next_check_at", models.DateTimeField(default=django.utils.timezone.now, null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("withdrawn", "withdrawn"),
                            ("expired", "expired"),
                            ("refused", "refused"),
                            ("lapsed", "lapsed"),
                            ("taken_over", "taken over"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ownership_claims",
                        to="dashboard_api.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "claim",
                "verbose_name_plural": "claims",
                "ordering": ["account", "host", "-created_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=["next_check_at"],
                        name="dashboard_api_claim_due",
                    ),
                    models.Index(fields=["host"], name="dashboard_api_claim_host"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("account", "host"),
                        name="dashboard_api_ownershipclaim_one_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at__isnull", True),
                                ("ended_reason", ""),
                                ("state__in", ["pending", "contested", "verified", "failing"]),
                            ),
                            models.Q(
                                models.Q(("ended_reason", ""), _negated=True),
                                ("ended_at__isnull", False),
                                ("state", "ended"),
                            ),
                            _connector="OR",
                        ),
                        name="dashboard_api_ownershipclaim_end_is_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["verified", "failing"]), _negated=True),
                            models.Q(models.Q(("method", ""), _negated=True), ("verified_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="dashboard_api_ownershipclaim_verified_has_method",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "contested"), _negated=True),
                            ("contested_at__isnull", False),
                            _connector="OR",
                        ),
                        name="dashboard_api_ownershipclaim_contested_has_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Entitlement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("plan", models.CharField(default="standard", max_length=50)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("trialing", "Trialing"),
                            ("active", "Active"),
                            ("past_due", "Past Due"),
                            ("suspended", "Suspended"),
                            ("expired", "Expired"),
                        ],
                        default="active",
                        max_length=10,
                    ),
                ),
                ("starts_on", models.DateField()),
                (
                    "ends_on",
                    models.DateField(help_text="The last day of the plan, or of its current period."),
                ),
                (
                    "renews",
                    models.BooleanField(
                        default=False,
                        help_text="The plan renews after its last day; it stays usable for three days more.",
                    ),
                ),
                (
                    "past_due_since",
                    models.DateField(
                        blank=True,
                        help_text="Starts the seven days of grace of a past due account.",
                        null=True,
                    ),
                ),
                (
                    "cancels",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The customer has cancelled: the plan ends on its last day.",
                    ),
                ),
                (
                    "suspended_by_staff",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="Payments do not lift it; staff must set another status.",
                        verbose_name="suspended by staff",
                    ),
                ),
                ("agreed", models.JSONField(editable=False, null=True)),
                (
                    "overrides",
                    models.JSONField(
                        db_default=models.Value([], models.JSONField()), default=list, editable=False
                    ),
                ),
                ("sites_limit", models.PositiveIntegerField(default=5)),
                ("calls_per_day", models.PositiveIntegerField(editable=False, null=True)),
                ("scans_per_month", models.PositiveIntegerField(editable=False, null=True)),
                ("seats", models.PositiveIntegerField(editable=False, null=True)),
                (
                    "features",
                    models.JSONField(
                        blank=True, default=list, help_text='Such as ["scans_daily", "deep_scans"].'
                    ),
                ),
                (
                    "limit_states",
                    models.JSONField(
                        db_default=models.Value([], models.JSONField()), default=list, editable=False
                    ),
                ),
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entitlement",
                        to="dashboard_api.account",
                    ),
                ),
                (
                    "plan_revision",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entitlements",
                        to="dashboard_api.plan",
                    ),
                ),
            ],
            options={
                "verbose_name": "entitlement",
                "verbose_name_plural": "entitlements",
                "ordering": ["account"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ends_on__gte", models.F("starts_on"))),
                        name="dashboard_api_entitlement_ends_after_start",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "past_due"), _negated=True),
                            ("past_due_since__isnull", False),
                            _connector="OR",
                        ),
                        name="dashboard_api_entitlement_past_due_has_start",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PlanPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "provider",
                    models.CharField(help_text="Such as stripe.", max_length=20, verbose_name="provider"),
                ),
                (
                    "price",
                    models.CharField(
                        help_text="As the provider names it, such as price_1PgafmB7.",
                        max_length=255,
                        verbose_name="price",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="prices",
                        to="dashboard_api.plan",
                        verbose_name="plan",
                    ),
                ),
            ],
            options={
                "verbose_name": "price of a plan",
                "verbose_name_plural": "prices of plans",
                "ordering": ["provider", "price"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "price"), name="dashboard_api_planprice_one_plan"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EngineRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("engine", models.CharField(max_length=50)),
                ("address", models.GenericIPAddressField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("ok", "report imported"),
                            ("blocked", "blocked by the website"),
                            ("failed", "failed"),
                            ("timed_out", "took too long"),
                            ("skipped", "not run"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=30)),
                ("exit_code", models.SmallIntegerField(null=True)),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField()),
                ("log", models.TextField(blank=True)),
                (
                    "import_run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="engine_runs",
                        to="dashboard_api.importrun",
                        verbose_name="import",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="dashboard_api.scanjob",
                    ),
                ),
            ],
            options={
                "verbose_name": "run of an engine",
                "verbose_name_plural": "runs of engines",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["engine", "-id"], name="dashboard_api_enginerun_usual")],
            },
        ),
        migrations.CreateModel(
            name="Secret",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "hint",
                    models.CharField(
                        editable=False,
                        help_text="The first characters, to tell secrets apart.",
                        max_length=32,
                    ),
                ),
                ("sealed", models.TextField(editable=False)),
                (
                    "is_test",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="Calls signed with it get the example website and are not counted.",
                        verbose_name="test",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "Active"), ("retiring", "Retiring"), ("revoked", "Revoked")],
                        default="active",
                        max_length=10,
                    ),
                ),
                (
                    "for_portal",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="Used by the portal only: its calls are neither limited nor counted.",
                        verbose_name="for the portal",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("created_by", models.CharField(max_length=150)),
                ("retires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="secrets",
                        to="dashboard_api.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "secret",
                "verbose_name_plural": "secrets",
                "ordering": ["account", "-created_at", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "retiring"), _negated=True),
                            ("retires_at__isnull", False),
                            _connector="OR",
                        ),
                        name="dashboard_api_secret_retiring_has_end",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScanSchedule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "frequency",
                    models.CharField(
                        choices=[
                            ("off", "off"),
                            ("daily", "daily"),
                            ("weekly", "weekly"),
                            ("monthly", "monthly"),
                        ],
                        default="off",
                        max_length=10,
                    ),
                ),
                (
                    "profile",
                    models.CharField(
                        choices=[("quick", "quick"), ("standard", "standard"), ("deep", "deep")],
                        default="quick",
                        max_length=10,
                    ),
                ),
                (
                    "start_hour",
                    models.PositiveSmallIntegerField(
                        default=2, validators=[django.core.validators.MaxValueValidator(23)]
                    ),
                ),
                (
                    "hours",
                    models.PositiveSmallIntegerField(
                        default=4,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(24),
                        ],
                    ),
                ),
                ("time_zone", models.CharField(default="UTC", max_length=64)),
                ("anchor", models.DateField(help_text="The day from which weeks and months are counted.")),
                ("paused_until", models.DateField(blank=True, null=True)),
                (
                    "pause_reason",
                    models.CharField(
                        blank=True,
                        help_text="Why the schedule paused itself, such as blocked.",
                        max_length=30,
                    ),
                ),
                ("blocked_runs", models.PositiveSmallIntegerField(default=0)),
                ("next_at", models.DateTimeField(blank=True, null=True)),
                ("changed_by", models.CharField(blank=True, max_length=150)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "link",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scan_schedule",
                        to="dashboard_api.sitelink",
                    ),
                ),
            ],
            options={
                "verbose_name": "schedule of scans",
                "verbose_name_plural": "schedules of scans",
                "ordering": ["link"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_at__isnull", False)),
                        fields=["next_at"],
                        name="dashboard_api_scanschedule_due",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LinkEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[("linked", "Linked"), ("revoked", "Revoked"), ("restored", "Restored")],
                        max_length=10,
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "link",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="dashboard_api.sitelink",
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("action", "linked"), models.Q(("reason", ""), _negated=True), _connector="OR"
                        ),
                        name="dashboard_api_linkevent_says_why",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FindingEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "website_id",
                    models.BigIntegerField(help_text="The finding's website; regressions are queried by it."),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("fixed", "Fixed"),
                            ("regressed", "Regressed"),
                            ("false_positive", "False Positive"),
                            ("accepted_risk", "Accepted Risk"),
                            ("reconsidered", "Reconsidered"),
                            ("decision_expired", "Decision Expired"),
                            ("rated", "Rated"),
                            ("confirmed", "Confirmed"),
                            ("unconfirmed", "Unconfirmed"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "by",
                    models.CharField(
                        blank=True,
                        help_text="Who did it; empty: a scan, or the end of a decision.",
                        max_length=150,
                    ),
                ),
                ("reason", models.CharField(blank=True, help_text="Customers can read it.", max_length=500)),
                (
                    "finding",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="dashboard_api.finding",
                    ),
                ),
                (
                    "decision",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The standing decision that caused the event; empty if a scan or an analyst did.",
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="events",
                        to="dashboard_api.standingdecision",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("event", "regressed")),
                        fields=["website_id", "id"],
                        name="dashboard_api_event_regressed",
                    ),
                    models.Index(
                        condition=models.Q(("decision__isnull", False)),
                        fields=["decision", "website_id"],
                        name="dashboard_api_event_standing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=20, verbose_name="provider")),
                ("object_id", models.CharField(max_length=255, verbose_name="subscription")),
                ("held", models.JSONField(default=list, verbose_name="snapshots")),
                ("late_at", models.DateTimeField(null=True)),
                ("settled_at", models.DateTimeField(null=True)),
                ("unclear_until", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="dashboard_api.account",
                        verbose_name="customer",
                    ),
                ),
            ],
            options={
                "verbose_name": "subscription",
                "verbose_name_plural": "subscriptions",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "object_id"), name="dashboard_api_subscription_of_provider"
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="standingdecision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True)),
                fields=("source", "rule", "website"),
                name="dashboard_api_standing_once",
                violation_error_message="There is a decision about this already: end it first.",
            ),
        ),
        migrations.AddConstraint(
            model_name="standingdecision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True), ("website__isnull", True)),
                fields=("source", "rule"),
                name="dashboard_api_standing_once_for_all",
                violation_error_message="There is a decision about this already: end it first.",
            ),
        ),
        migrations.AddConstraint(
            model_name="standingdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("end_reason", ""), ("ended_at__isnull", True), ("ended_by", "")),
                    models.Q(
                        ("ended_at__isnull", False),
                        models.Q(("ended_by", ""), _negated=True),
                        models.Q(("end_reason", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="dashboard_api_standing_end_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="standingdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("reason", ""), _negated=True), models.Q(("by", ""), _negated=True)
                ),
                name="dashboard_api_standing_says_why",
            ),
        ),
        migrations.AddConstraint(
            model_name="sitelink",
            constraint=models.UniqueConstraint(
                fields=("account", "website"), name="dashboard_api_sitelink_once_per_account"
            ),
        ),
        migrations.AddIndex(
            model_name="scanjob",
            index=models.Index(
                condition=models.Q(("state", "queued")),
                fields=["-priority", "due_at", "id"],
                name="dashboard_api_scanjob_queue",
            ),
        ),
        migrations.AddIndex(
            model_name="scanjob",
            index=models.Index(fields=["website", "-created_at", "-id"], name="dashboard_api_scanjob_list"),
        ),
        migrations.AddIndex(
            model_name="scanjob",
            index=models.Index(fields=["account", "created_at"], name="dashboard_api_scanjob_account"),
        ),
        migrations.AddConstraint(
            model_name="scanjob",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True)),
                fields=("website",),
                name="dashboard_api_scanjob_one_a_website",
            ),
        ),
        migrations.AddConstraint(
            model_name="scanjob",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state__in", ["queued", "running"])),
                    models.Q(("ended_at__isnull", False), ("state__in", ["finished", "failed", "cancelled"])),
                    _connector="OR",
                ),
                name="dashboard_api_scanjob_end_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="scanjob",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "running"), _negated=True),
                    models.Q(("lease_until__isnull", False), models.Q(("worker", ""), _negated=True)),
                    _connector="OR",
                ),
                name="dashboard_api_scanjob_lease_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="reportjob",
            constraint=models.UniqueConstraint(
                condition=models.Q(("idempotency_key", ""), _negated=True),
                fields=("token", "idempotency_key"),
                name="dashboard_api_reportjob_once_a_key",
            ),
        ),
        migrations.AddConstraint(
            model_name="reportjob",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", True), ("status__isnull", True)),
                    models.Q(("finished_at__isnull", False), ("status__isnull", False)),
                    _connector="OR",
                ),
                name="dashboard_api_reportjob_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="opencount",
            constraint=models.UniqueConstraint(
                fields=("website", "day"), name="dashboard_api_opencount_once"
            ),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(fields=["website", "digest"], name="dashboard_api_importrun_same"),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(fields=["website", "-imported_at"], name="dashboard_api_importrun_list"),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(fields=["-imported_at", "-id"], name="dashboard_api_importrun_time"),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(
                condition=models.Q(("undone_at__isnull", True)),
                fields=["website", "source", "-imported_at", "-id"],
                name="dashboard_api_importrun_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(
                fields=["website", "newest_finding_id", "newest_event_id"],
                name="dashboard_api_importrun_upto",
            ),
        ),
        migrations.AddConstraint(
            model_name="importrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "rows",
                        django.db.models.expressions.CombinedExpression(
                            django.db.models.expressions.CombinedExpression(
                                django.db.models.expressions.CombinedExpression(
                                    models.F("findings"), "+", models.F("occurrences")
                                ),
                                "+",
                                models.F("coverage"),
                            ),
                            "+",
                            models.F("rejected"),
                        ),
                    )
                ),
                name="dashboard_api_importrun_adds_up",
            ),
        ),
        migrations.AddConstraint(
            model_name="importrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("undone_at__isnull", True), ("undone_by", ""), ("undone_reason", "")),
                    models.Q(
                        ("undone_at__isnull", False),
                        models.Q(("undone_by", ""), _negated=True),
                        models.Q(("undone_reason", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="dashboard_api_importrun_undone_is_whole",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                models.F("website"),
                models.F("status"),
                models.OrderBy(models.F("severity"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="dashboard_api_finding_list",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                models.F("website"),
                models.F("status"),
                models.OrderBy(models.F("severity"), descending=True),
                models.F("source"),
                models.F("kind"),
                models.F("host"),
                models.F("problem"),
                models.F("locations_count"),
                models.F("id"),
                models.F("first_seen"),
                models.F("fixed_at"),
                name="dashboard_api_finding_cells",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                models.F("status"),
                models.OrderBy(models.F("severity"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("reviewed_at__isnull", True)),
                name="dashboard_api_finding_queue",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("triage_until__isnull", False)),
                fields=["triage_until"],
                name="dashboard_api_finding_triaged",
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.UniqueConstraint(
                fields=("website", "source", "fingerprint"), name="dashboard_api_finding_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=models.Q(("severity__lte", 4)), name="dashboard_api_finding_severity_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=models.Q(("last_seen__gte", models.F("first_seen"))),
                name="dashboard_api_finding_seen_in_order",
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("fixed_at__isnull", False), ("status", "fixed")),
                    models.Q(models.Q(("status", "fixed"), _negated=True), ("fixed_at__isnull", True)),
                    _connector="OR",
                ),
                name="dashboard_api_finding_fixed_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="coverage",
            constraint=models.UniqueConstraint(
                fields=("website", "source"), name="dashboard_api_coverage_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="analystnote",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("is_internal", True), ("published_at__isnull", True)),
                    models.Q(("is_internal", False), ("published_at__isnull", False)),
                    _connector="OR",
                ),
                name="dashboard_api_note_published_has_time",
            ),
        ),
        sql_of("finding"),
        sql_of("callrecord"),
        sql_of("nonce"),
        sql_of("plan"),
    ]
