"""The commands around the services, as a person types them."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiomqtt
import pytest
import typer
from typer.testing import CliRunner

from firmware_protocol.simulator import SimulatedTable
from tablectl import channels
from tablectl.cli import broker as broker_cli
from tablectl.cli import doctor as doctor_cli
from tablectl.cli import ledger as ledger_cli
from tablectl.cli import record as record_cli
from tablectl.config import load
from tablectl.ledger import Ledger
from tablectl.services import doctor
from tablectl.services.asyncapi import render
from tablectl.services.broker import BrokerAddressError, parse_broker_url
from tablectl.services.bus import Entry
from tablectl.services.recorder import SessionWriter
from tests.ledger.test_ledger import HAND, SESSION
from tests.services.conftest import MOSQUITTO, needs_mosquitto
from tests.services.test_recording import METADATA, entries
from vision.messages import Taught

app = typer.Typer()
app.add_typer(ledger_cli.app, name="ledger")
app.add_typer(record_cli.app, name="record")
app.command("doctor")(doctor_cli.doctor)
app.command("broker-config")(broker_cli.broker_config)
app.command("asyncapi")(broker_cli.asyncapi)


def run(*arguments: object, code: int = 0) -> tuple[str, str]:
    """Output and errors of a command that ends with the given code."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        app, [str(argument) for argument in arguments]
    )
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stdout, result.stderr


@pytest.fixture
def ledger_file(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with Ledger(path) as ledger:
        ledger.start_session(replace(SESSION, names=("Anna", "=cmd()", "陈", "Dee")))
        ledger.record_hand(HAND)
        ledger.record_hand(replace(HAND, id="s1-2", number=2, delta=(-8, 8, 0, 0)))
        ledger.correct_hand("s1-1", (9, -3, -3, -3), 1200.0, "8m was 9m")
    return path


def test_ledger_lists_and_shows(ledger_file: Path) -> None:
    for arguments in (["ledger"], ["ledger", "list"]):
        out, _ = run(*arguments, "--file", ledger_file)
        assert "s1" in out
        assert "Anna" in out
    out, _ = run("ledger", "show", "s1", "--file", ledger_file)
    assert "8m was 9m" in out


def test_ledger_as_json_and_csv(ledger_file: Path) -> None:
    out, _ = run("ledger", "--json", "--file", ledger_file)
    session = json.loads(out)
    assert session["totals"] == [1, 5, -3, -3]
    out, _ = run("ledger", "show", "s1", "--json", "--file", ledger_file)
    hands = [json.loads(line) for line in out.splitlines()]
    assert [hand["delta"] for hand in hands] == [[9, -3, -3, -3], [-8, 8, 0, 0]]
    out, _ = run("ledger", "show", "s1", "--csv", "--file", ledger_file)
    rows = list(csv.DictReader(out.splitlines()))
    assert [int(row["Anna"]) for row in rows] == [9, -8]
    assert [row["corrections"] for row in rows] == ["1", "0"]
    out, _ = run("ledger", "list", "--csv", "--file", ledger_file)
    [row] = csv.DictReader(out.splitlines())
    assert (row["points_0"], row["points_1"]) == ("1", "5")
    assert row["name_1"] == "'=cmd()", "no formula for the spreadsheet"


def test_ledger_says_what_is_wrong(ledger_file: Path, tmp_path: Path) -> None:
    _, err = run("ledger", "show", "s9", "--file", ledger_file, code=2)
    assert "s9" in err
    _, err = run("ledger", "--file", tmp_path / "none.db", code=2)
    assert "no ledger" in err
    (tmp_path / "bad.db").write_bytes(b"nonsense" * 200)
    _, err = run("ledger", "--file", tmp_path / "bad.db", code=2)
    assert "bad.db" in err
    (tmp_path / "bad.toml").write_text("[ledgr]")
    _, err = run("ledger", "--config", tmp_path / "bad.toml", code=2)
    assert "did you mean ledger?" in err


@pytest.fixture
def cut_recording(tmp_path: Path) -> Path:
    path = tmp_path / "evening.mcap"
    writer = SessionWriter(path, METADATA)
    for entry in entries():
        writer.write(entry)
    writer.abandon()
    return path


def test_record_info_list_export_recover(cut_recording: Path, tmp_path: Path) -> None:
    info = json.loads(run("record", "info", cut_recording, "--json")[0])
    assert info["metadata"]["rules"] == "hangzhou"
    assert info["channels"]["/camera"] == 2
    assert "unfinished" in info["cut"]
    assert "unfinished" in run("record", "info", cut_recording)[0]
    whole = tmp_path / "whole.mcap"
    recovered = json.loads(run("record", "recover", cut_recording, whole, "--json")[0])
    assert recovered["messages"] == len(entries())
    assert json.loads(run("record", "info", whole, "--json")[0])["cut"] is None
    assert "finished" in run("record", "info", whole)[0]
    assert "exists" in run("record", "recover", cut_recording, whole, code=2)[1]
    out, err = run("record", "export", cut_recording)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["seq"] for line in lines] == [n for n in range(9) if n not in (1, 4)]
    assert "unfinished" in err
    out, _ = run("record", "export", whole, "--channel", "/camera")
    assert [json.loads(line)["message"]["format"] for line in out.splitlines()] == ["jpeg"] * 2
    (tmp_path / "other.mcap").write_bytes(b"other")
    out, _ = run("record", "list", tmp_path, "--json")
    rows = {Path(row["file"]).name: row for row in map(json.loads, out.splitlines())}
    assert rows["whole.mcap"]["session"] == "s1"
    assert "no MCAP" in rows["other.mcap"]["error"]


def test_taught_tile_sets_are_exported_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "evening.mcap"
    writer = SessionWriter(path, METADATA)
    writer.write(Entry(0, 1.0, channels.TILE_SET, Taught(t=1.0, tile_set="UEs=")))
    writer.close()
    assert run("record", "export", path)[0] == ""
    out, _ = run("record", "export", path, "--channel", channels.TILE_SET)
    assert json.loads(out)["message"] == {"t": 1.0, "tile_set": "UEs="}


def test_record_says_what_is_wrong(tmp_path: Path) -> None:
    assert "No such file" in run("record", "info", tmp_path / "none.mcap", code=2)[1]
    (tmp_path / "x.mcap").write_bytes(b"hello")
    for command in ("info", "export"):
        assert "no MCAP" in run("record", command, tmp_path / "x.mcap", code=2)[1]
    assert "no such folder" in run("record", "list", tmp_path / "none", code=2)[1]


def test_asyncapi_is_printed(tmp_path: Path) -> None:
    assert run("asyncapi")[0] == render()
    run("asyncapi", "--out", tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == render()
    run("asyncapi", "--out", tmp_path / "none" / "a.json", code=2)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def written_broker(tmp_path: Path, free_port: int) -> Iterator[Path]:
    """A Mosquitto that runs on what ``tablectl broker-config`` wrote."""
    folder = tmp_path / "mosquitto"
    run("broker-config", folder, "--listen", f"127.0.0.1:{free_port}")
    assert MOSQUITTO is not None
    if os.geteuid() == 0:
        with (folder / "mosquitto.conf").open("a") as file:
            file.write("user root\n")
    process = subprocess.Popen(
        [MOSQUITTO, "-c", str(folder / "mosquitto.conf")], stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(free_port)
        yield folder
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("mosquitto did not start")


@needs_mosquitto
async def test_a_written_broker_configuration_works_and_keeps_its_roles(
    written_broker: Path,
) -> None:
    for name in ("passwords", "acl", "broker.toml"):
        assert stat.S_IMODE((written_broker / name).stat().st_mode) == 0o600
    config = await asyncio.to_thread(load, written_broker / "broker.toml")
    assert config.broker.url is not None
    assert config.broker.display_password is not None
    address, daemon = parse_broker_url(config.broker.url.get_secret_value())
    assert daemon is not None
    display_password = config.broker.display_password.get_secret_value()
    assert display_password not in (written_broker / "passwords").read_text()
    async with (
        aiomqtt.Client(
            address.host, address.port, username=daemon.username, password=daemon.password
        ) as full,
        aiomqtt.Client(
            address.host, address.port, username="display", password=display_password
        ) as display,
    ):
        await full.subscribe("#", qos=1)
        await display.subscribe("#", qos=1)
        await display.publish("tablectl/any/request/undo", b"{}", qos=1)
        await full.publish("tablectl/any/state", b"{}", qos=1)
        message = await asyncio.wait_for(anext(aiter(display.messages)), 5.0)
        assert message.topic.value == "tablectl/any/state"
        message = await asyncio.wait_for(anext(aiter(full.messages)), 5.0)
        assert message.topic.value == "tablectl/any/state", "the display's request went nowhere"
    with pytest.raises(aiomqtt.MqttError):
        async with aiomqtt.Client(address.host, address.port):
            pass


@needs_mosquitto
def test_doctor_finds_a_configured_broker_well(written_broker: Path) -> None:
    config = load(written_broker / "broker.toml")
    check = asyncio.run(doctor.check_broker(config))
    assert (check.status, check.detail) == ("ok", "daemon and display can log in")


def test_broker_config_does_not_replace_passwords_unasked(tmp_path: Path) -> None:
    out, _ = run("broker-config", tmp_path / "m")
    assert "mosquitto -c" in out
    before = (tmp_path / "m" / "passwords").read_text()
    _, err = run("broker-config", tmp_path / "m", code=2)
    assert "--force" in err
    assert (tmp_path / "m" / "passwords").read_text() == before
    run("broker-config", tmp_path / "m", "--force")
    assert (tmp_path / "m" / "passwords").read_text() != before
    _, err = run("broker-config", tmp_path / "n", "--listen", "1883", code=2)
    assert "host:port" in err
    with pytest.raises(BrokerAddressError):
        parse_broker_url("1883")


@needs_mosquitto
def test_doctor_reports_problems_with_remedies(tmp_path: Path, free_port: int) -> None:
    config = tmp_path / "t.toml"
    config.write_text(
        f"state_dir = 'state'\n[server]\nhost = '127.0.0.1'\nport = {free_port}\n"
        "[serial]\nport = '/dev/serial/by-id/none'\n"
        "[camera]\nsource = 'v4l2:/dev/v4l/by-id/none'\ncalibration = 'none.json'\n"
        "[detector]\nweights = 'none'\ntile_set = 'none.npz'\n"
    )
    out, _ = run("doctor", "--config", config, "--json", code=1)
    report = json.loads(out)
    found = {check["name"]: check for check in report["checks"]}
    assert not report["ok"]
    for name, said in [
        ("serial", "is not there"),
        ("camera", "is not there"),
        ("calibration", "none.json"),
        ("weights", "none"),
        ("tile set", "none.npz"),
    ]:
        assert found[name]["status"] == "problem", found[name]
        assert said in found[name]["detail"]
        assert found[name]["remedy"]
    for name in ("disk", "broker", "port", "clock"):
        assert found[name]["status"] in ("ok", "warning"), found[name]
    assert "mosquitto 2" in found["broker"]["detail"]
    out, _ = run("doctor", "--config", config, code=1)
    assert "usermod" in out or "plug it in" in out or "cable" in out


def test_doctor_refuses_a_wrong_configuration(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text("[tabel]\n")
    _, err = run("doctor", "--config", tmp_path / "t.toml", code=2)
    assert "did you mean table?" in err


def test_doctor_tells_full_disks_and_taken_ports(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        config = tmp_path / "t.toml"
        config.write_text(f"state_dir = 'file/x'\n[server]\nhost='127.0.0.1'\nport = {port}")
        loaded = load(config)
        assert asyncio.run(doctor.check_disk(loaded)).status == "problem"
        check = asyncio.run(doctor.check_port(loaded))
    assert check.status == "warning"
    assert str(port) in check.detail


async def test_doctor_sees_pictures_and_their_size(tmp_path: Path) -> None:
    import cv2
    import numpy as np

    folder = tmp_path / "pictures"
    folder.mkdir()
    for n in range(3):
        cv2.imwrite(str(folder / f"{n}.png"), np.full((480, 640, 3), 40 * n, np.uint8))
    text = "[camera]\nsource = 'folder:pictures'\nwidth = {}\nheight = 480"
    config = tmp_path / "t.toml"
    for width, status in [(640, "ok"), (800, "warning")]:
        config.write_text(text.format(width))
        check = await doctor.check_camera(load(config))
        assert (check.status, "640x480" in check.detail) == (status, True)


async def test_doctor_says_when_no_table_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "IDENTITY_SECONDS", 0.5)
    config = tmp_path / "t.toml"
    config.write_text(f"[serial]\nport = '{tmp_path}/none'")
    check = await doctor.check_identity(load(config))
    assert check.status == "problem"
    assert "none" in check.detail


async def test_doctor_asks_the_simulated_table_who_it_is(tmp_path: Path) -> None:
    with SimulatedTable() as table:
        config = tmp_path / "t.toml"
        config.write_text(f"[serial]\nport = '{table.port}'")
        check = await doctor.check_identity(load(config))
    assert check.status == "ok", check
    assert "firmware" in check.detail
