"""Puts the built firmware into the wheel, so that `tablectl flash` works without a checkout."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FirmwareHook(BuildHookInterface[Any]):
    """Adds ``tablectl.hex`` where it has been built (``make firmware``)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; an editable one finds the firmware in the checkout."""
        built = Path(self.root) / "hardware/firmware/build/avr/tablectl.hex"
        if version != "editable" and built.exists():
            build_data["force_include"][str(built)] = "tablectl/_firmware/tablectl.hex"
