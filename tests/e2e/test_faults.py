"""A bad cable and a camera that freezes, at once: right, or asked; never silently wrong."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tablectl import channels
from tablectl.daemon import Running
from tablectl.demo import DemoOptions, open_demo, run_demo
from tablectl.messages import Health
from tablectl.services.bus import Entry
from tablectl.services.recording import Recording
from tests.e2e.programs import tablectl, until
from vision.messages import CameraState, CameraStatus, SightChange

# Damage and timing differ from run to run; a fault of ours fails twice.
pytestmark = [pytest.mark.timeout(580), pytest.mark.flaky(reruns=1)]

BAD_CABLE = {
    "drop": 0.003, "corrupt": 0.003, "duplicate": 0.003, "delay": 0.01, "jitter": 0.03,
}  # fmt: skip
"""Three bytes in a thousand of each damage: about every tenth frame is hit."""
FROZEN_S = 5.0


class Witness:
    """Notes what the bus says of the camera and the line."""

    def __init__(self) -> None:
        self.camera: list[CameraState] = []
        self.sight: list[str] = []
        self.health: list[Health] = []
        self.bad_frames = 0

    def watch(self, running: Running) -> None:
        running.bus.on(CameraStatus, self._on_camera, channels.CAMERA)
        running.bus.on(SightChange, self._on_sight, channels.SIGHT)
        running.bus.on(Health, self._on_health, channels.HEALTH)

    def _on_camera(self, entry: Entry[CameraStatus]) -> None:
        self.camera.append(entry.message.state)

    def _on_sight(self, entry: Entry[SightChange]) -> None:
        self.sight.append(entry.message.sight)

    def _on_health(self, entry: Entry[Health]) -> None:
        self.health.append(entry.message)
        self.bad_frames = entry.message.link.counters["bad_frames"]


@pytest.mark.parametrize(
    ("rules", "freeze_at"),
    [
        ("hongkong", 30.0),
        pytest.param("hangzhou", 25.0, marks=pytest.mark.slow),
        pytest.param("hangzhou", 45.0, marks=pytest.mark.slow),
        pytest.param("hongkong", 62.0, marks=pytest.mark.slow),
    ],
)
async def test_a_hand_over_a_bad_cable_with_a_camera_that_freezes(
    rules: str, freeze_at: float, tmp_path: Path
) -> None:
    witness = Witness()
    options = DemoOptions(
        rules=rules, hands=1, seed=1, fast=True, port=0, keep=tmp_path, noise=BAD_CABLE,
        freeze_at=(freeze_at, FROZEN_S),
    )  # fmt: skip
    result = await run_demo(options, on_start=witness.watch)
    assert result.problem == ""
    assert result.hands == 1
    assert result.hands_right == [True], (result.scores, result.truth, result.questions)
    assert result.scores == result.truth
    assert witness.camera[-1] is CameraState.FINE
    assert witness.bad_frames > 0, "the cable was not as bad as it should have been"


async def test_a_frozen_camera_is_stale_while_it_lasts_and_the_pictures_can_be_read_again(
    tmp_path: Path,
) -> None:
    """In real time, as a camera freezes; and the recording holds pictures to read anew."""
    witness = Witness()
    options = DemoOptions(port=0, keep=tmp_path, freeze_at=(9.0, FROZEN_S))
    async with open_demo(options) as (simulator, running):
        witness.watch(running)
        await running.mqtt.wait_connected()
        await asyncio.to_thread(simulator.play)
        await until(lambda: CameraState.STALE in witness.camera, within=60)
        await until(lambda: _says(witness.health[-1], "stale", "blind"), within=4)
        assert witness.health[-1].problems
        await until(lambda: witness.camera[-1] is CameraState.FINE, within=20)
        await until(lambda: witness.health[-1].camera == "fine", within=4)
        recorded = running.recording
        await until(lambda: len(_discards(recorded)) >= 4, within=60)
    assert recorded is not None
    again = tablectl("replay", recorded, "--from", "camera", "--json")
    assert again.returncode == 0, again.stderr
    read = [_place(json.loads(line)["event"]) for line in again.stdout.splitlines()]
    live = [_place(event) for event in _discards(recorded)][:3]
    assert [place for place in read if place is not None][:3] == live


def _says(health: Health, camera: str, sight: str) -> bool:
    """Health is reported once a second; the eye's word comes a moment after the camera's."""
    return (health.camera, health.sight) == (camera, sight)


def _discards(path: Path | None) -> list[dict[str, object]]:
    """The discards of a recording that may still be growing."""
    if path is None:
        return []
    events: dict[int, dict[str, object]] = {}
    for item in Recording(path).messages((channels.EVENT,)):
        view = json.loads(item.data)
        events[view["n"]] = view["event"]
    return [events[n] for n in sorted(events) if events[n].get("e") == "discard"]


def _place(event: dict[str, object]) -> object:
    return event["seat"] if event.get("e") == "discard" else None
