"""The plant: a firmware that does what it is told moves the machine, pin by pin."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import serial

from firmware_protocol.hardware.pins import load
from firmware_protocol.peer_process import PeerProcess, PeerProcessError

from .tools import built, needs_simavr

pytestmark = needs_simavr
PORTS = {pin.name: pin.port[1:] for pin in load().pins}
CHANNELS = {pin.name: pin.adc for pin in load().of_kind("current")}
SPEED = 8.0
"""The machine runs so many times as fast as the chip."""


class Chip:
    """The exerciser in simavr, and the machine on its pins."""

    def __init__(self, table: PeerProcess) -> None:
        self.table = table
        self.line = serial.Serial(table.port, timeout=5)
        self.line.write(b"!\n")
        while self.line.readline() != b"?\n":  # what was left of the boot message
            pass

    def tell(self, command: str) -> str:
        self.line.write(f"{command}\n".encode())
        answer: bytes = self.line.readline()
        return answer.decode().strip()

    def on(self, *names: str) -> None:
        for name in names:
            assert self.tell(f"+{PORTS[name]}") == "ok"

    def off(self, *names: str) -> None:
        for name in names:
            assert self.tell(f"-{PORTS[name]}") == "ok"

    def watch(self, *names: str) -> None:
        """Make inputs with pull-ups."""
        for name in names:
            assert self.tell(f"^{PORTS[name]}") == "ok"

    def sees(self, name: str) -> bool:
        return self.tell(f"?{PORTS[name]}") == "1"

    def amperes(self, name: str) -> float:
        return int(self.tell(f"a{CHANNELS[name]}")) * 5 / 1024

    def snapshot(self) -> dict[str, Any]:
        return self.table.snapshot()

    def until(self, condition: Callable[[], bool], within: float = 10.0) -> None:
        end = time.monotonic() + within
        while not condition():
            assert time.monotonic() < end, "it did not happen"

    def console(self, lights: str = "00000000") -> list[int]:
        return list(bytes.fromhex(self.tell(f"x {lights}")))


@pytest.fixture
def chip(tmp_path: Path) -> Iterator[Chip]:
    command = [built("tableplant"), built("exerciser.elf")]
    with PeerProcess(command, tmp_path, options=["--machine", str(SPEED)]) as table:
        chip = Chip(table)
        chip.on("MOTOR_ENABLE")
        yield chip
        chip.line.close()


def test_the_centre_panel_travels_between_its_switches(chip: Chip) -> None:
    chip.watch("CENTRE_OPEN", "CENTRE_CLOSED")
    assert chip.sees("CENTRE_CLOSED")
    chip.on("CENTRE")
    assert chip.amperes("CURRENT_CENTRE") == pytest.approx(0.8, abs=0.02)
    chip.until(lambda: chip.sees("CENTRE_OPEN"))
    assert not chip.sees("CENTRE_CLOSED")
    chip.on("CENTRE_REVERSE")
    chip.until(lambda: chip.sees("CENTRE_CLOSED"))


def test_a_hand_in_the_hole_stalls_the_closing_panel_half_way(chip: Chip) -> None:
    chip.on("CENTRE")
    chip.until(lambda: chip.snapshot()["centre"] == 1)
    chip.table.ask("fault centre-blocked")
    chip.on("CENTRE_REVERSE")
    chip.until(lambda: chip.amperes("CURRENT_CENTRE") > 3.9)
    assert chip.snapshot()["centre"] == pytest.approx(0.5, abs=0.02)
    chip.off("CENTRE_REVERSE")
    chip.until(lambda: chip.snapshot()["centre"] == 1)


def test_trays_travel_apart_with_their_pins_and_together_with_their_direction(chip: Chip) -> None:
    chip.watch("LIFT_TOP_0", "LIFT_BOTTOM_0", "LIFT_BOTTOM_3")
    chip.on("LIFT_0")
    chip.until(lambda: chip.sees("LIFT_TOP_0"))
    assert not chip.sees("LIFT_BOTTOM_0")
    assert chip.sees("LIFT_BOTTOM_3")
    chip.on("LIFT_3", "LIFT_REVERSE")
    chip.until(lambda: chip.sees("LIFT_BOTTOM_0"))
    assert chip.snapshot()["lifts"][3] == 0


def test_pwm_sets_the_speed(chip: Chip) -> None:
    assert chip.tell("w 128") == "ok"  # of 255
    start = chip.snapshot()
    time.sleep(0.2)
    end = chip.snapshot()
    travelled = end["lifts"][0] - start["lifts"][0]
    share = travelled / ((end["time_s"] - start["time_s"]) * SPEED / 3.0)
    assert share == pytest.approx(0.5, abs=0.02)


def test_no_motor_moves_without_the_relay_or_with_an_open_emergency_stop(chip: Chip) -> None:
    chip.off("MOTOR_ENABLE")
    chip.on("CENTRE")
    time.sleep(0.1)
    assert chip.snapshot()["centre"] == 0
    assert not chip.snapshot()["motors_on"]
    chip.on("MOTOR_ENABLE")
    chip.until(lambda: chip.snapshot()["centre"] > 0)
    chip.watch("E_STOP")
    assert not chip.sees("E_STOP")
    chip.table.ask("e-stop open")
    chip.until(lambda: chip.sees("E_STOP"))
    where = chip.snapshot()
    assert not where["motors_on"]
    time.sleep(0.1)
    assert chip.snapshot()["centre"] == where["centre"]


def test_what_the_firmware_does_after_an_emergency_stop_is_timed(chip: Chip) -> None:
    chip.on("PAN", "LIFT_2")
    chip.table.ask("e-stop open")
    chip.table.wait_for("violations", {"e_stop": 1, "limit": 0})
    assert chip.snapshot()["e_stop_off_us"] is None, "its pins are still on"
    chip.off("PAN")
    assert chip.snapshot()["e_stop_off_us"] is None
    chip.off("LIFT_2")
    assert chip.snapshot()["e_stop_off_us"] > 10_000
    chip.table.ask("e-stop closed")
    chip.table.ask("e-stop open")
    time.sleep(0.05)
    assert chip.snapshot()["e_stop_off_us"] == 0, "nothing was on"
    assert chip.snapshot()["violations"]["e_stop"] == 1, "counted once"


def test_driving_into_a_closed_limit_switch_is_a_violation(chip: Chip) -> None:
    chip.on("LIFT_REVERSE", "LIFT_1")
    chip.table.wait_for("violations", {"e_stop": 0, "limit": 1})
    time.sleep(0.05)
    assert chip.snapshot()["violations"]["limit"] == 1, "once for one push"


def feed(chip: Chip, tiles: int) -> None:
    chip.table.ask(f"add-tiles 2 {tiles}")
    chip.watch("HEAD_IN_2", "HEAD_HOME_2", "STACK_2")
    chip.on("PAN", "RING_2", "BELT_2")


def test_tiles_come_and_the_head_pushes_stacks_of_two(chip: Chip) -> None:
    feed(chip, 4)
    assert chip.amperes("CURRENT_FEED_2") == pytest.approx(1.6, abs=0.02), "ring and belt"
    for _ in range(2):
        chip.until(lambda: chip.sees("HEAD_IN_2"))
        chip.until(lambda: not chip.sees("HEAD_IN_2"))
    assert chip.snapshot()["stacks"] == [0, 0, 0, 0]
    assert chip.sees("HEAD_HOME_2")
    chip.on("HEAD_2")
    chip.until(lambda: not chip.sees("HEAD_HOME_2"))
    chip.until(lambda: chip.sees("STACK_2"))
    chip.off("HEAD_2")
    assert chip.snapshot()["stacks"][2] == 1


def test_no_tile_comes_while_one_of_pan_ring_and_belt_stands(chip: Chip) -> None:
    feed(chip, 4)
    chip.off("BELT_2")
    time.sleep(0.5)
    assert not chip.sees("HEAD_IN_2")
    chip.on("BELT_2")
    chip.until(lambda: chip.sees("HEAD_IN_2"))


def test_a_jam_stalls_the_head_until_it_is_reversed_often_enough(chip: Chip) -> None:
    chip.watch("HEAD_HOME_1")
    chip.table.ask("fault head-jam:1:2")
    for _ in range(2):
        chip.on("HEAD_1")
        chip.until(lambda: chip.amperes("CURRENT_HEAD_1") > 3.9)
        chip.on("HEAD_REVERSE_1")
        assert chip.amperes("CURRENT_HEAD_1") < 1
        chip.until(lambda: chip.sees("HEAD_HOME_1"))
        chip.off("HEAD_REVERSE_1")
    chip.until(lambda: not chip.sees("HEAD_HOME_1"))
    chip.until(lambda: chip.sees("HEAD_HOME_1"))


@pytest.mark.parametrize(
    ("fault", "motors", "channel"),
    [
        ("pan-stall", ["PAN"], "CURRENT_PAN"),
        ("ring-stall:3", ["RING_3"], "CURRENT_FEED_3"),
        ("lift-blocked:0", ["LIFT_0"], "CURRENT_LIFT_0"),
    ],
)
def test_a_stall_is_over_current_of_its_own_channel(
    chip: Chip, fault: str, motors: list[str], channel: str
) -> None:
    chip.on(*motors)
    chip.table.ask(f"fault {fault}")
    chip.until(lambda: chip.amperes(channel) > 3.9)
    assert sum(chip.amperes(name) for name in CHANNELS) < 5, "no other channel"
    chip.table.ask("repair")
    chip.until(lambda: chip.amperes(channel) < 1)


@pytest.mark.parametrize(
    ("fault", "name", "active"),
    [
        ("limit-bottom-stuck:1", "LIFT_BOTTOM_1", False),
        ("limit-top-closed:1", "LIFT_TOP_1", True),
        ("sensor-dirty:0", "HEAD_IN_0", True),
        ("stack-dirty:0", "STACK_0", True),
        ("cover-open", "COVER", True),
        ("e-stop", "E_STOP", True),
    ],
)
def test_a_broken_contact_reads_wrong(chip: Chip, fault: str, name: str, active: bool) -> None:
    chip.watch(name)
    assert chip.sees(name) is not active
    chip.table.ask(f"fault {fault}")
    chip.until(lambda: chip.sees(name) is active)
    chip.table.ask("repair")
    chip.until(lambda: chip.sees(name) is not active)


def test_motors_with_inertia_start_with_more_current_and_coast(tmp_path: Path) -> None:
    """The converter needs 0.1 ms for a value, this test some ms for each."""
    command = [built("tableplant"), built("exerciser.elf")]
    with PeerProcess(command, tmp_path, options=["--inertia", "200"]) as table:
        chip = Chip(table)
        chip.on("MOTOR_ENABLE", "CENTRE")
        assert chip.amperes("CURRENT_CENTRE") > 2
        chip.until(lambda: chip.amperes("CURRENT_CENTRE") < 0.9)
        chip.off("CENTRE")
        where = chip.snapshot()["centre"]
        assert chip.amperes("CURRENT_CENTRE") == 0
        time.sleep(0.5)
        assert 0.05 < chip.snapshot()["centre"] - where < 0.15, "0.2 s of its 2 s travel"
        chip.line.close()


def test_an_open_contact_needs_the_pull_up(chip: Chip) -> None:
    chip.table.ask("cover open")
    time.sleep(0.05)
    assert not chip.sees("COVER")
    chip.watch("COVER")
    chip.until(lambda: chip.sees("COVER"))


def test_a_dead_tray_and_a_dead_panel_do_not_move(chip: Chip) -> None:
    chip.table.ask("fault lift-dead:3")
    chip.table.ask("fault centre-dead")
    chip.on("LIFT_3", "LIFT_2", "CENTRE")
    chip.until(lambda: chip.snapshot()["lifts"][2] == 1)
    assert (chip.snapshot()["lifts"][3], chip.snapshot()["centre"]) == (0, 0)


def test_buttons_dice_and_lights_pass_through_the_chain(chip: Chip) -> None:
    assert chip.console() == [0xFF] * 5
    chip.table.ask("press 1 3")
    pressed = [0xFF, 0xFF & ~(1 << 3), 0xFF, 0xFF, 0xFF]
    chip.until(lambda: chip.console() == pressed)
    chip.until(lambda: chip.console() == [0xFF] * 5)
    chip.table.ask("dice 5 2")
    assert chip.console()[4] == 0xFF & ~(5 | 2 << 3)
    chip.console("04030201")  # of consoles 3 to 0
    assert chip.snapshot()["lights"] == [1, 2, 3, 4]


def test_memory_survives_a_power_cut_and_ram_does_not(chip: Chip) -> None:
    assert chip.tell("e 17 5c") == "ok"
    chip.table.ask("power off")
    assert chip.snapshot()["powered"] is False
    chip.table.ask("eeprom 18 ab")
    chip.table.ask("power on")
    assert chip.line.readline() == b"boot 1 a5\n", "power-on reset, RAM is junk"
    assert (chip.tell("g 17"), chip.tell("g 18")) == ("5c", "ab")


@pytest.mark.parametrize(
    ("reason", "flags"), [("external", 2), ("brown-out", 4), ("watchdog", 8), ("software", 0)]
)
def test_the_reset_reason_is_told(chip: Chip, reason: str, flags: int) -> None:
    chip.table.ask(f"restart {reason}")
    assert chip.line.readline() == b"boot %d 11\n" % flags, "RAM is kept"


def test_the_watchdog_bites(chip: Chip) -> None:
    chip.watch("CENTRE_CLOSED")
    chip.on("CENTRE")
    assert chip.tell("d") == "ok"
    assert chip.line.readline() == b"boot 8 11\n"
    assert not chip.snapshot()["motors_on"], "a reset lets every pin go"
    chip.watch("LIFT_BOTTOM_0")
    assert chip.sees("LIFT_BOTTOM_0"), "the world is still connected"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("fault gremlins", "no such fault"),
        ("fault head-jam:4", "sides are 0 to 3"),
        ("fault head-jam:1:x", "sides are 0 to 3"),
        ("press 4 0", "seats 0 to 3"),
        ("dice 0 7", "1 to 6"),
        ("power maybe", "power off, or power on"),
        ("restart lightning", "REASON"),
        ("eeprom 0 00", "power off first"),
        ("dance", "no such line: dance"),
    ],
)
def test_a_wrong_line_is_told(chip: Chip, line: str, complaint: str) -> None:
    with pytest.raises(PeerProcessError, match=complaint):
        chip.table.ask(line)


def test_the_memory_file_keeps_the_eeprom(tmp_path: Path) -> None:
    memory = tmp_path / "eeprom.bin"
    memory.write_bytes(bytes(4096))
    command = [built("tableplant"), built("exerciser.elf")]
    with PeerProcess(command, tmp_path, options=["--memory", str(memory)]) as table:
        assert Chip(table).tell("e 100 77") == "ok"
    assert memory.read_bytes()[100] == 0x77


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["/nowhere.elf"], "no firmware that can be read"),
        (["ELF", "--patch", "tc_nonsense=00"], "of a symbol in flash"),
        (["ELF", "--patch", "tc_identity=0"], "even number of hex digits"),
        (["ELF", "--memory", "SHORT"], "must have 4096 bytes"),
        (["ELF", "--speed", "0"], "above 0"),
    ],
)
def test_bad_options_end_with_a_reason(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    short = tmp_path / "short"
    short.write_bytes(b"short")
    known = {"ELF": str(built("exerciser.elf")), "SHORT": str(short)}
    elf, *options = [known.get(item, item) for item in arguments]
    with pytest.raises(PeerProcessError, match=complaint):
        PeerProcess([built("tableplant"), elf], tmp_path, options=options).start()


def test_a_patch_changes_the_firmware(tmp_path: Path) -> None:
    command = [built("tableplant"), built("exerciser.elf")]
    identity = b"espresso".hex()
    with PeerProcess(command, tmp_path, options=["--patch", f"tc_identity={identity}"]) as table:
        assert table.snapshot()["powered"]
