from django.db import migrations
from django.utils import timezone


def fill(apps, schema_editor):
    """Store the ids of those who sent open invitations and made live share links, where the names still fit."""
    alias, now = schema_editor.connection.alias, timezone.now()
    users = apps.get_model("auth", "User").objects.using(alias)
    changes = apps.get_model("portal", "MembershipChange").objects.using(alias)
    invitations = apps.get_model("portal", "Invitation").objects.using(alias)
    for invitation in invitations.filter(closed_at=None, expires_at__gt=now):
        sent = changes.filter(
            account=invitation.account_id, action="invited", person=invitation.email
        ).order_by("-at", "-id")
        name = sent.values_list("by", flat=True).first()
        if inviter := users.filter(username=name).first():
            invitations.filter(pk=invitation.pk).update(invited_by=inviter)
    links = apps.get_model("portal", "ShareLink").objects.using(alias)
    live = links.filter(revoked_at=None, expires_at__gt=now)
    for name in set(live.values_list("created_by", flat=True)):
        live.filter(created_by=name).update(creator=users.filter(username=name).first())


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0007_people_by_id"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
