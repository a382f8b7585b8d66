"""``tablectl calibrate`` as a person uses it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import cv2
import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from tablectl.cli.calibrate import calibrate
from vision.calibration import Calibration
from vision.calibration_fit import find_markers
from vision.geometry import TableGeometry
from vision.marker_sheet import sheet_pdf, sheet_picture, sheet_svg

from .cameras import TrueCamera

app = typer.Typer()
app.command()(calibrate)


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photo") / "table.png"
    cv2.imwrite(str(path), TrueCamera(k1=-0.05).felt_with_markers())
    return path


def test_the_sheet_holds_all_markers_at_their_size() -> None:
    page = sheet_picture(TableGeometry())
    found = find_markers(np.dstack([page] * 3))
    assert sorted(found) == [0, 1, 2, 3]
    for corners in found.values():
        side_mm = np.linalg.norm(corners[1] - corners[0]) * 25.4 / 300
        assert side_mm == pytest.approx(TableGeometry().marker_size_mm, abs=0.5)


def test_svg_and_png_sheets(tmp_path: Path) -> None:
    assert run("--sheet", tmp_path / "m.svg").exit_code == 0
    text = (tmp_path / "m.svg").read_text()
    assert text == sheet_svg(TableGeometry())
    assert 'width="210.0mm"' in text
    assert run("--sheet", tmp_path / "m.png").exit_code == 0
    assert cv2.imread(str(tmp_path / "m.png")) is not None
    wrong = run("--sheet", tmp_path / "m.docx")
    assert (wrong.exit_code, "Traceback" in wrong.output) == (2, False)


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="pdftoppm (poppler) is missing")
def test_the_pdf_prints_the_same_sheet(tmp_path: Path) -> None:
    assert run("--sheet", tmp_path / "m.pdf").exit_code == 0
    picture = tmp_path / "page"
    subprocess.run(
        ["pdftoppm", "-r", "150", "-png", "-singlefile", tmp_path / "m.pdf", picture], check=True
    )
    page = cv2.imread(f"{picture}.png")
    assert page is not None
    found = find_markers(np.asarray(page, np.uint8))
    truth = find_markers(np.dstack([sheet_picture(TableGeometry())] * 3))
    assert sorted(found) == [0, 1, 2, 3]
    for marker, corners in found.items():
        assert np.abs(corners * 2 - truth[marker]).max() < 3.0


def test_the_pdf_is_a_whole_file(tmp_path: Path) -> None:
    """Every object begins where its table says; viewers are told not to scale."""
    data = sheet_pdf(TableGeometry())
    start = int(data.rstrip().splitlines()[-2])
    assert data[start : start + 4] == b"xref"
    rows = data[start:].splitlines()[3:8]
    for number, row in enumerate(rows, start=1):
        assert data[int(row[:10]) :].startswith(b"%d 0 obj" % number)
    assert b"/PrintScaling /None" in data
    assert b"595.276 841.890" in data


def test_markers_then_check(photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibration.json"
    done = run("--image", photo, "--out", out, "--height", "1200", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["score"] > 80
    # Over one table the two terms can hardly be told apart; their sum is what bends the edges.
    assert told["k1"] + told["k2"] * 0.3 == pytest.approx(-0.05, abs=0.015)
    assert Calibration.load(out).camera_height_mm == pytest.approx(1200, rel=0.02)
    assert run("--image", photo, "--out", out, "--check").exit_code == 0
    moved = tmp_path / "moved.png"
    cv2.imwrite(str(moved), TrueCamera(k1=-0.05, offset=(12, 5)).felt_with_markers())
    check = run("--image", moved, "--out", out, "--check", "--json")
    assert check.exit_code == 1
    assert json.loads(check.output)["state"] == "moved"


def test_a_folder_as_camera_and_a_drawing(photo: Path, tmp_path: Path) -> None:
    out, drawn = tmp_path / "c.json", tmp_path / "zones.jpg"
    done = run("--source", f"folder:{photo.parent}", "--out", out, "--draw", drawn)
    assert done.exit_code == 0, done.output
    assert "score" in done.output
    assert drawn.exists()


def test_corners(photo: Path, tmp_path: Path) -> None:
    corners = "450,70 1470,70 1470,1010 450,1010"
    done = run("--image", photo, "--out", tmp_path / "c.json", "--corners", corners)
    assert done.exit_code == 0, done.output
    assert Calibration.load(tmp_path / "c.json").method == "corners"


def test_snapped_corners_measure_the_lens(photo: Path, tmp_path: Path) -> None:
    h = TableGeometry().half_mm
    truth = TrueCamera(k1=-0.05).project(np.array([(-h, -h), (h, -h), (h, h), (-h, h)]), 0.0)
    near = " ".join(f"{x + dx:.0f},{y + dy:.0f}" for (x, y), (dx, dy) in zip(
        truth, ((4, 3), (-3, 4), (2, -4), (3, 3)), strict=True))  # fmt: skip
    done = run("--image", photo, "--out", tmp_path / "c.json", "--corners", near, "--snap")
    assert done.exit_code == 0, done.output
    found = Calibration.load(tmp_path / "c.json")
    assert np.abs(found.felt_outline - truth).max() < 1.0
    assert found.k1 + 0.3 * found.k2 == pytest.approx(-0.05, abs=0.015)


def test_the_page_is_served_until_something_is_saved(photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.json"
    command = [sys.executable, "-m", "tablectl", "calibrate", "--browser", "--port", "0"]
    with subprocess.Popen(
        [*command, "--image", photo, "--out", out],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as page:  # fmt: skip
        assert page.stdout is not None
        said = re.search(r"(http://\S+)/#calibrate .*: (\S+)", page.stdout.readline())
        assert said is not None
        url, password = said.groups()

        def ask(path: str, body: dict[str, object], **headers: str) -> dict[str, object]:
            request = urllib.request.Request(
                url + path,
                json.dumps(body).encode(),
                {"Content-Type": "application/json"} | headers,
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                told: dict[str, object] = json.load(answer)
            return told

        token = ask("/api/login", {"password": password})["token"]
        saved = ask(
            "/api/calibration/save", {"method": "markers"}, Authorization=f"Bearer {token}"
        )  # fmt: skip
        assert saved["file"] == str(out)
        assert page.wait(30) == 0
        assert f"{out}: saved" in page.stdout.read()
    assert Calibration.load(out).method == "markers"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "--source"),
        (["--browser"], "--source"),
        (["--browser", "--image", "none.png"], "none.png: No such file"),
        (["--browser", "--source", "folder:/nowhere", "--port", "0"], "no folder"),
        (["--image", "none.png"], "none.png: No such file"),
        (["--source", "usb:1"], "not understood"),
        (["--source", "folder:/nowhere"], "no folder"),
        (["--image", "PHOTO", "--corners", "1,2 3"], "four X,Y pairs"),
        (["--image", "PHOTO", "--tile-width", "3"], "--tile-width"),
        (["--image", "PHOTO", "--size", "big"], "--size"),
        (["--image", "PHOTO", "--check"], "run `tablectl calibrate`"),
    ],
)
def test_bad_input_is_one_clear_line(
    photo: Path, tmp_path: Path, args: list[str], message: str
) -> None:
    filled = [str(photo) if a == "PHOTO" else a for a in args]
    result = run(*filled, "--out", tmp_path / "none.json")
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
