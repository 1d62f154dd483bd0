"""Pages of saved views: saving the filters of a dashboard, and the list."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.models import Membership, SavedView
from portal.pages.access import current_user, get_website, manages, members_only
from portal.pages.forms import Filters, SaveViewForm, ViewNameForm
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.view_models import reader_of, site_page
from portal.pages.view_models.saved_views import filters_in_words, query_of, save_url
from portal.saved_views import actions
from portal.saved_views.view_models import account_sections


@require_safe
@members_only
@gzip_page
def saved_views(request: HttpRequest) -> HttpResponse:
    """Show the saved views in each of the person's accounts."""
    return _render_views(request)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def save(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Save the filters of the URL as a view; the form is above the list.

    An invalid form is shown at this URL, so a GET of it redirects to the list.
    """
    website, candidates = get_website(request, host)
    page = site_page(website, candidates, Filters.from_query(request.GET))
    if request.method != "POST":
        return redirect(page.url)
    filters = page.address.filters
    form = SaveViewForm(request.POST, manages=manages(request, website))
    if not filters.active:
        form.add_error(None, _("Choose filters first: without any, there is nothing to save."))
    if form.is_valid():
        name, for_everyone = form.cleaned_data["name"], form.cleaned_data.get("everyone", False)
        try:
            person, query = current_user(request), query_of(filters)
            actions.save(website.account_id, name, query, by=person, for_everyone=for_everyone)
        except actions.NameTaken:
            form.add_error("name", _name_taken(name, for_everyone=for_everyone))
        except actions.TooManyViews:
            form.add_error(None, _too_many(for_everyone=for_everyone))
        except Membership.DoesNotExist as error:
            raise Http404 from error
        else:
            messages.info(request, _("The view “%(name)s” is saved.") % {"name": name})
            return redirect(page.url)
    words = filters_in_words(filters, reader_of(website.account_id, request.user))
    context = {"page": page, "form": form, "filters": words, "save_url": save_url(page.address)}
    return render(request, "portal/saved_views/save.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def rename(request: HttpRequest, saved_view: int) -> HttpResponse:
    """Rename a view. An invalid form is shown at this URL, so a GET of it redirects to the list."""
    if request.method != "POST":
        return redirect("portal:saved_views")
    view = get_object_or_404(SavedView.objects.manageable_by(request.user), pk=saved_view)
    form = ViewNameForm(request.POST, auto_id=f"view-{view.pk}-%s")
    if form.is_valid():
        name = form.cleaned_data["name"]
        try:
            actions.rename(view, name, by=current_user(request))
        except actions.NameTaken:
            form.add_error("name", _name_taken(name, for_everyone=view.is_for_everyone))
        except SavedView.DoesNotExist as error:
            raise Http404 from error
        else:
            messages.info(request, _("The view is now called “%(name)s”.") % {"name": name})
            return redirect("portal:saved_views")
    return _render_views(request, (view.pk, form))


@require_POST
@members_only
def delete(request: HttpRequest, saved_view: int) -> HttpResponse:
    """Delete a view."""
    view = get_object_or_404(SavedView.objects.manageable_by(request.user), pk=saved_view)
    try:
        actions.delete(view, by=current_user(request))
    except SavedView.DoesNotExist as error:
        raise Http404 from error
    messages.info(request, _("The view “%(name)s” is deleted.") % {"name": view.name})
    return redirect("portal:saved_views")


def _render_views(request: HttpRequest, invalid: tuple[int, ViewNameForm] | None = None) -> HttpResponse:
    sections = account_sections(request.user, invalid)
    return render(request, "portal/saved_views/views.html", {"sections": sections})


def _name_taken(name: str, *, for_everyone: bool) -> str:
    text = (
        _("“%(name)s” is already the name of a view, perhaps of another member. Choose another name.")
        if for_everyone
        else _("You already have a view with the name “%(name)s”. Choose another name.")
    )
    return text % {"name": name}


def _too_many(*, for_everyone: bool) -> str:
    text = (
        _("There are already %(count)s views for everyone. Delete one first.")
        if for_everyone
        else _("You already have %(count)s views. Delete one first.")
    )
    return text % {"count": actions.MAX_VIEWS}
