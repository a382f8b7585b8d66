"""Settings for all tests: properties must not fail because a machine is busy."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tablectl", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("tablectl")
