"""The wheel holds everything, and works outside the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--wheel-dir", str(out), str(ROOT)],
        check=True, timeout=280,
    )  # fmt: skip
    return next(out.glob("*.whl"))


def test_the_wheel_holds_weights_page_artwork_and_licence(wheel: Path) -> None:
    if not (ROOT / "tablectl/web/static/index.html").exists():
        pytest.skip("the page is not built: make web")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "tablectl/web/static/index.html", "tablectl/_models/tile_finder.onnx",
        "tablectl/_models/tile_reader.onnx", "tablectl/config.example.toml",
        "vision/art/1m.svg", "vision/art/faces.png",
    }  # fmt: skip
    assert wanted <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests/", "web/", "runs/")) for name in names)


def test_the_wheel_brings_the_firmware_where_it_was_built(wheel: Path) -> None:
    built = ROOT / "hardware/firmware/build/avr/tablectl.hex"
    if not built.exists():
        pytest.skip("the firmware is not built: make firmware")
    with zipfile.ZipFile(wheel) as content:
        assert content.read("tablectl/_firmware/tablectl.hex") == built.read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    tablectl = tmp_path / "env/bin/tablectl"
    done = subprocess.run(
        [tablectl, "demo", "--headless", "--hands", "1", "--speed", "max", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["hands"] == 1
    assert result["agree"] is True
    rules = subprocess.run([tablectl, "rules"], cwd=tmp_path, capture_output=True, check=True)
    assert b"hongkong" in rules.stdout
