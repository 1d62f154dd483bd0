"""What requests are measured against: a view that does nothing, a list by Django REST framework."""

import functools
from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import CharField, ModelSerializer

from benchmarks import records
from dashboard_api.models import Finding

ANSWER = records.FOLDER / "answer.json"


@csrf_exempt
def bare(_: HttpRequest) -> HttpResponse:
    """The bytes that the product answered once, and nothing done for them."""
    return HttpResponse(_answer(), content_type="application/json")


@functools.cache
def _answer() -> bytes:
    return ANSWER.read_bytes()


class FindingSerializer(ModelSerializer):
    """A finding as the product's list tells it."""

    source = CharField(source="source.slug")
    source_name = CharField(source="source.name")

    class Meta:
        model = Finding
        fields: ClassVar = [
            *(
                "id",
                "severity",
                "source",
                "source_name",
                "kind",
                "status",
                "title",
                "description",
                "location",
            ),
            *("locations_count", "evidence", "remediation", "references", "cwe", "cve", "rule"),
            *("first_seen", "last_seen"),
        ]


class Pages(PageNumberPagination):
    """As many as the product shows."""

    page_size = 20


class FindingList(ListAPIView):
    """The list and its total: no signature, no nonce, no facets, no charts, no coverage, no notes."""

    queryset = Finding.objects.select_related("source").defer("severity_raw").order_by("-severity", "-id")
    serializer_class = FindingSerializer
    pagination_class = Pages
    renderer_classes: ClassVar = [JSONRenderer]
    authentication_classes: ClassVar = []
    permission_classes: ClassVar = []
    filter_backends: ClassVar = [DjangoFilterBackend]
    filterset_fields: ClassVar = ["website", "status", "severity", "source__slug", "kind"]
