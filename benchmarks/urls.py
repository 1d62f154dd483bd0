"""The product's addresses, and beside them what it is measured against, under the same middleware."""

from django.urls import path

from benchmarks.baselines import FindingList, bare
from benchmarks.plain import PATH, plain
from config import urls as product

urlpatterns = [
    path("benchmark/bare", bare),
    path(PATH.removeprefix("/"), plain),
    path("benchmark/rest", FindingList.as_view()),
    *product.urlpatterns,
]
