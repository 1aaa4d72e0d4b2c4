"""A busy machine draws inputs slowly: that says nothing about what is tested."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("patient")
