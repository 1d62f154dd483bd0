"""The product's addresses, and beside them what it is measured against, under the same middleware."""

from django.urls import path

from benchmarks import baselines
from config import urls as product

urlpatterns = [
    path("benchmark/bare", baselines.bare),
    path("benchmark/rest", baselines.FindingList.as_view()),
    *product.urlpatterns,
]
