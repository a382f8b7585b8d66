"""Settings for all tests: neither a busy machine nor how they were started may fail them."""

import signal

from hypothesis import HealthCheck, settings

# Properties must not fail because a machine is busy.
settings.register_profile(
    "tablectl", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("tablectl")

# A shell's background job starts with SIGINT ignored, and so would every program under test.
signal.signal(signal.SIGINT, signal.default_int_handler)
