"""What the end-to-end tests stand on; skipped, with the reason, where it is missing."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.web.conftest import browser

__all__ = ["browser"]


@pytest.fixture(scope="session", autouse=True)
def mosquitto() -> None:
    """The daemon's private broker is a real one."""
    if shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        pytest.skip("mosquitto is not installed (apt-get install mosquitto)")
