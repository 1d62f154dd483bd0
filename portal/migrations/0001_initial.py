"""Tables of the portal; later migrations only add to them."""

import uuid

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

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
                        help_text="The portal_account_ref that the service gave.",
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
                ("sealed_secret", models.TextField(editable=False)),
            ],
            options={
                "verbose_name": "portal access",
                "verbose_name_plural": "portal access",
                "ordering": ["ref"],
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
                ("host", models.CharField(max_length=253)),
                (
                    "link_id",
                    models.CharField(
                        help_text="The id that the service returned when the website was linked to the account.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\Z",
                                "Copy it as the service shows it, such as 6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e.",
                            )
                        ],
                        verbose_name="link id",
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="websites",
                        to="portal.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "portal website",
                "verbose_name_plural": "portal websites",
                "ordering": ["host", "account"],
                "permissions": [("see_as_customer", "Can see websites as their customers do")],
            },
        ),
        migrations.CreateModel(
            name="DayOfVisit",
            fields=[
                ("user_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("before", models.DateField(null=True)),
            ],
            options={
                "ordering": ["user_id"],
            },
        ),
        migrations.CreateModel(
            name="LastVisit",
            fields=[
                ("user_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
            ],
            options={
                "ordering": ["user_id"],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("viewer", "Viewer")],
                        default="viewer",
                        max_length=10,
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="portal.account",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "member",
                "verbose_name_plural": "members",
                "ordering": ["account", "user"],
            },
        ),
        migrations.CreateModel(
            name="ShareOpening",
            fields=[
                ("share_link_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("last_opened_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["share_link_id"],
            },
        ),
        migrations.CreateModel(
            name="UserLanguage",
            fields=[
                ("user_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("language", models.CharField(max_length=10)),
            ],
            options={
                "ordering": ["user_id"],
            },
        ),
        migrations.CreateModel(
            name="WebsiteSummary",
            fields=[
                ("website_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("updated_at", models.DateTimeField()),
                ("refusal", models.CharField(blank=True, max_length=64)),
                ("payload", models.TextField(blank=True, help_text="JSON.")),
                (
                    "new_findings",
                    models.BigIntegerField(default=0, help_text="New findings of the last seven days."),
                ),
                (
                    "grew_at",
                    models.DateTimeField(help_text="When the number of new findings last rose.", null=True),
                ),
                (
                    "version",
                    models.CharField(
                        blank=True, help_text="Version of the website's data in the service.", max_length=64
                    ),
                ),
            ],
            options={
                "ordering": ["website_id"],
            },
        ),
        migrations.CreateModel(
            name="IssueTracker",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="issue_tracker",
                        serialize=False,
                        to="portal.account",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("github", "GitHub"), ("gitlab", "GitLab"), ("jira", "Jira")], max_length=10
                    ),
                ),
                ("url", models.URLField(max_length=500)),
            ],
            options={
                "ordering": ["account"],
            },
        ),
        migrations.CreateModel(
            name="Badge",
            fields=[
                (
                    "website",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="badge",
                        serialize=False,
                        to="portal.website",
                    ),
                ),
                (
                    "link_id",
                    models.CharField(
                        help_text="The website's link at the time; there is no badge if the link has changed.",
                        max_length=100,
                    ),
                ),
                ("token", models.CharField(editable=False, max_length=64, unique=True)),
                ("language", models.CharField(max_length=10)),
                ("created_by", models.CharField(help_text="The user name at the time.", max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["website"],
            },
        ),
        migrations.CreateModel(
            name="ClaimState",
            fields=[
                (
                    "website",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="claim_state",
                        serialize=False,
                        to="portal.website",
                    ),
                ),
                ("claim_id", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        help_text="State of the claim; the reason if it has ended.", max_length=20
                    ),
                ),
                ("lapses_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["website"],
            },
        ),
        migrations.CreateModel(
            name="FeedCursor",
            fields=[
                (
                    "website",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="feed_cursor",
                        serialize=False,
                        to="portal.website",
                    ),
                ),
                ("cursor", models.TextField()),
                (
                    "version",
                    models.CharField(
                        db_default="",
                        default="",
                        help_text="The version of the website's data that was read; empty if it is not known.",
                        max_length=64,
                    ),
                ),
            ],
            options={
                "ordering": ["website"],
            },
        ),
        migrations.CreateModel(
            name="HelperLink",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("claim_id", models.CharField(max_length=18)),
                ("host", models.CharField(max_length=253)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="helper_links",
                        to="portal.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "helper link",
                "verbose_name_plural": "helper links",
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("viewer", "Viewer")],
                        default="viewer",
                        max_length=10,
                    ),
                ),
                (
                    "was_emailed",
                    models.BooleanField(
                        help_text="The link was sent to the address and shown to no one else."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                (
                    "closed_at",
                    models.DateTimeField(help_text="When it was accepted, withdrawn or replaced.", null=True),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="portal.account",
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="LastAnswer",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("website_id", models.BigIntegerField()),
                ("received_at", models.DateTimeField()),
                ("sealed", models.TextField()),
            ],
            options={
                "ordering": ["-received_at"],
                "indexes": [
                    models.Index(fields=["website_id", "received_at"], name="portal_lastanswer_website"),
                    models.Index(fields=["received_at"], name="portal_lastanswer_received"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "membership",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="subscription",
                        serialize=False,
                        to="portal.membership",
                    ),
                ),
                (
                    "min_severity",
                    models.CharField(
                        default="High", help_text="The lowest severity that is sent.", max_length=10
                    ),
                ),
                (
                    "frequency",
                    models.CharField(
                        choices=[
                            ("immediate", "Immediate"),
                            ("daily", "Daily"),
                            ("weekly", "Weekly"),
                            ("never", "Never"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        help_text="The member's language at the time of the choice; empty: the language of the last visit.",
                        max_length=10,
                    ),
                ),
            ],
            options={
                "ordering": ["membership"],
            },
        ),
        migrations.CreateModel(
            name="ClaimEmail",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=100)),
                ("claimed_at", models.DateTimeField(help_text="When a process began to send it.", null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                (
                    "membership",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claim_emails",
                        to="portal.membership",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="account",
            name="members",
            field=models.ManyToManyField(
                related_name="portal_accounts", through="portal.Membership", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.CreateModel(
            name="MembershipChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.CharField(
                        blank=True,
                        help_text="The user name at the time; empty for operators.",
                        max_length=150,
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("invited", "Invited"),
                            ("withdrawn", "Withdrawn"),
                            ("joined", "Joined"),
                            ("role", "Role"),
                            ("removed", "Removed"),
                            ("left", "Left"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "person",
                    models.CharField(
                        help_text="The member's user name, or the invited address.", max_length=254
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("viewer", "Viewer")],
                        max_length=10,
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="membership_changes",
                        to="portal.account",
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="PendingNotification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.TextField(help_text="JSON.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "email_id",
                    models.UUIDField(
                        help_text="The e-mail that contains it; set at the first attempt.", null=True
                    ),
                ),
                ("claimed_at", models.DateTimeField(help_text="When a process began to send it.", null=True)),
                (
                    "membership",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pending_notifications",
                        to="portal.membership",
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pending_notifications",
                        to="portal.website",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="ShareLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "link_id",
                    models.CharField(
                        help_text="The website's link when this was shared; nothing is shown if the link has changed.",
                        max_length=100,
                    ),
                ),
                ("finding_id", models.CharField(blank=True, help_text="Empty for a list.", max_length=128)),
                (
                    "filters",
                    models.TextField(blank=True, help_text="The filters of a list, as a query string."),
                ),
                ("title", models.CharField(max_length=300)),
                ("includes_evidence", models.BooleanField(default=False)),
                ("token_hash", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_by", models.CharField(help_text="The user name at the time.", max_length=150)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "creator",
                    models.ForeignKey(
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "website",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="share_links",
                        to="portal.website",
                    ),
                ),
            ],
            options={
                "verbose_name": "share link",
                "verbose_name_plural": "share links",
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.AddConstraint(
            model_name="website",
            constraint=models.UniqueConstraint(
                fields=("account", "host"), name="portal_website_once_per_account"
            ),
        ),
        migrations.AddIndex(
            model_name="helperlink",
            index=models.Index(fields=["account", "claim_id"], name="portal_helper_links_of_claim"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("user", "account"), name="portal_membership_once"),
        ),
        migrations.AddConstraint(
            model_name="claimemail",
            constraint=models.UniqueConstraint(fields=("membership", "key"), name="portal_claimemail_once"),
        ),
        migrations.AddIndex(
            model_name="membershipchange",
            index=models.Index(fields=["account", "-at", "-id"], name="portal_changes_of_account"),
        ),
    ]
