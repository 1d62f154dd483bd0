"""The product's URLs and the bare view, under the same middleware."""

from django.urls import path

from benchmarks.baselines import bare
from config import urls as product

urlpatterns = [path("benchmark/bare", bare), *product.urlpatterns]
