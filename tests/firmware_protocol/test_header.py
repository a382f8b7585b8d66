"""The generated C header is fresh, compiles, and speaks the same bytes as Python."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.generate_header import DEFAULT_PATH, generate, main
from firmware_protocol.wire import encode

COMPILER = shutil.which("cc")


def test_header_in_the_repository_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, "run `python -m firmware_protocol.generate_header`"
    assert DEFAULT_PATH.read_text(encoding="utf-8") == generate()


def test_stale_header_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "protocol.h"
    path.write_text(generate().replace("0x45u", "0x55u"), encoding="utf-8")
    assert main(["--check", str(path)]) == 1
    assert "stale" in capsys.readouterr().err
    assert main([str(path)]) == 0
    assert main(["--check", str(path)]) == 0


PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "protocol.h"
static void show(const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) printf("%02x", b[i]);
    printf("\\n");
}
int main(void) {
    uint8_t b[TC_MAX_PAYLOAD];
    tc_build_walls_t build = {0x1234, TC_TILE_PROGRAM_TILES_136, 2}, build2;
    show(b, tc_encode_build_walls(b, &build));
    if (!tc_decode_build_walls(b, TC_SIZE_BUILD_WALLS, &build2)) return 1;
    if (build2.token != 0x1234 || build2.program != 136 || build2.dealer != 2) return 2;
    if (tc_decode_build_walls(b, TC_SIZE_BUILD_WALLS - 1, &build2)) return 3;
    b[4] = 4;
    if (tc_decode_build_walls(b, TC_SIZE_BUILD_WALLS, &build2)) return 4;
    b[4] = 3; b[3] = 137;
    if (tc_decode_build_walls(b, TC_SIZE_BUILD_WALLS, &build2)) return 5;
    tc_stacks_t stacks = {108, {14, 13, 14, 13}, {14, 13, 14, 13}};
    show(b, tc_encode_stacks(b, &stacks));
    tc_sensor_report_t sensors = {TC_SENSOR_E_STOP_OPEN | TC_SENSOR_HEAD_IN_3};
    show(b, tc_encode_sensor_report(b, &sensors));
    tc_host_hello_t hello = {TC_HOST_IDENTITY, TC_PROTOCOL_MAJOR, TC_PROTOCOL_MINOR, 0}, hello2;
    show(b, tc_encode_host_hello(b, &hello));
    if (!tc_decode_host_hello(b, TC_SIZE_HOST_HELLO, &hello2)) return 6;
    return strcmp(hello2.identity, TC_HOST_IDENTITY) ? 7 : 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_header_compiles_without_a_warning_and_agrees_with_python(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-unused-function"]
    command = [str(COMPILER), *flags, f"-I{DEFAULT_PATH.parent}", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    expected: list[m.Command | m.Stacks | m.SensorReport | m.HostHello] = [
        m.BuildWalls(m.TileProgram.TILES_136, 2, token=0x1234),
        m.Stacks(m.TileProgram.TILES_108, (14, 13, 14, 13), (14, 13, 14, 13)),
        m.SensorReport(m.Sensor.E_STOP_OPEN | m.Sensor.HEAD_IN_3),
        m.HostHello(),
    ]
    assert result.stdout.split() == [encode(item).hex() for item in expected]


def test_every_identifier_is_declared_once() -> None:
    names = re.findall(r"^#define (\w+)|^\} (\w+);", generate(), re.MULTILINE)
    flat = [a or b for a, b in names]
    assert len(flat) == len(set(flat))
