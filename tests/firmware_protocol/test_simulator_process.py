"""The simulated table as a process of its own."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.client import TableClient


async def roll(port: str) -> None:
    async with TableClient(port) as client:
        await client.command(m.RollDice())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_process_serves_a_table_until_stopped(tmp_path: Path, how: signal.Signals) -> None:
    link = tmp_path / "table"
    command = [sys.executable, "-m", "firmware_protocol.simulator", "--link", str(link)]
    with subprocess.Popen([*command, "--speed", "50"], stdout=subprocess.PIPE, text=True) as table:
        assert table.stdout is not None
        try:
            assert table.stdout.readline().strip() == str(link)
            asyncio.run(roll(str(link)))
        finally:
            table.send_signal(how)
        assert table.wait(5) == 0
    assert not link.is_symlink()


def test_bad_arguments_are_one_line_and_exit_code_2() -> None:
    command = [sys.executable, "-m", "firmware_protocol.simulator", "--fault", "gremlins"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "head-jam" in result.stderr
    assert "Traceback" not in result.stderr
