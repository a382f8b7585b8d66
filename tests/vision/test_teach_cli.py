"""``tablectl teach`` as a person uses it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import cv2
import pytest
import typer
from typer.testing import CliRunner, Result

from tablectl.cli.read import read
from tablectl.cli.teach import teach_command
from tablectl.config import load
from tablectl.services.doctor import check_tile_set
from vision.calibration_fit import calibrate_from_markers
from vision.detector import TileSet
from vision.geometry import TableGeometry
from vision.render.layout import layout_scene
from vision.render.renderer import Renderer
from vision.render.scene import Scene
from vision.render.style import Style

app = typer.Typer()
app.command("teach")(teach_command)
app.command("read")(read)


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pictures of the bare table and of the layout, its calibration, a config."""
    folder = tmp_path_factory.mktemp("table")
    renderer = Renderer(Style(), TableGeometry(), (1120, 1000))
    bare = renderer.render(Scene())
    cv2.imwrite(str(folder / "bare.png"), bare)
    cv2.imwrite(str(folder / "layout.png"), renderer.render(layout_scene(TableGeometry(), 5)))
    calibrate_from_markers(bare, TableGeometry()).save(folder / "calibration.json")
    (folder / "pictures").mkdir()
    for number in range(3):
        picture = renderer.render(layout_scene(TableGeometry(), 5))
        cv2.imwrite(str(folder / "pictures" / f"{number}.png"), picture)
    (folder / "table.toml").write_text(
        "[camera]\nsource = 'folder:pictures'\ncalibration = 'calibration.json'\nwidth = 1120\n"
        "height = 1000\n[detector]\ntile_set = 'kept/tiles.npz'\n"
    )
    return folder


def test_from_a_photograph(table: Path, tmp_path: Path) -> None:
    out, drawn = tmp_path / "tiles.npz", tmp_path / "drawn.png"
    result = run("teach", "--image", table / "layout.png", "--out", out, "--draw", drawn)
    assert result.exit_code == 0, result.output
    assert "42 tiles taught" in result.output
    assert "[detector] tile_set" in result.output
    assert cv2.imread(str(drawn)) is not None
    assert len(set(TileSet.load(out).kinds.tolist())) == 42
    told = run("read", table / "layout.png", "--tile-set", out, "--json")
    assert told.exit_code == 0, told.output
    tiles = json.loads(told.output)["tiles"]
    assert len({tile["tile"] for tile in tiles}) == 42
    assert min(tile["confidence"] for tile in tiles) > 0.5


def test_the_configuration_names_everything(table: Path) -> None:
    config = table / "table.toml"
    result = run("teach", "--config", config, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["tiles"] == 42
    assert Path(told["file"]) == table / "kept" / "tiles.npz"
    assert set(told["misread_before"]) <= {f"{n}f" for n in range(1, 9)}
    check = asyncio.run(check_tile_set(load(config)))
    assert (check.status, "42 tiles taught on" in check.detail) == ("ok", True)


def test_without_a_name_the_set_is_kept_in_the_state_folder(table: Path, tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text("state_dir = 'state'\n")
    photograph = ("--image", table / "layout.png", "--config", config)
    result = run("teach", *photograph)
    assert result.exit_code == 0, result.output
    kept = tmp_path / "state" / "tiles.npz"
    assert load(config).tile_set_path == kept
    assert kept.exists()
    assert "when it is started next" in result.output
    assert "Name the file" not in result.output
    check = asyncio.run(check_tile_set(load(config)))
    assert (check.status, "42 tiles taught on" in check.detail) == ("ok", True)
    elsewhere = run("teach", *photograph, "--out", tmp_path / "other.npz")
    assert "Name the file in the configuration" in elsewhere.output


def test_the_doctor_misses_only_a_set_that_is_named(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text("state_dir = 'state'\n[detector]\ntile_set = 'tiles.npz'\n")
    check = asyncio.run(check_tile_set(load(config)))
    assert (check.status, "tiles.npz is missing" in check.detail) == ("problem", True)
    assert "tablectl teach" in check.remedy
    (tmp_path / "tiles.npz").write_bytes(b"no set")
    check = asyncio.run(check_tile_set(load(config)))
    assert (check.status, "no taught tile set" in check.detail) == ("problem", True)


def test_another_place_is_added_to_what_the_file_holds(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "tiles.npz"
    lesson = ("--image", table / "layout.png", "--out", out)
    early = run("teach", *lesson, "--add")
    assert (early.exit_code, "tiles.npz" in early.output) == (2, True)
    assert run("teach", *lesson).exit_code == 0
    once = len(TileSet.load(out).kinds)
    assert run("teach", *lesson, "--add").exit_code == 0
    assert len(TileSet.load(out).kinds) == 2 * once


def test_the_doctor_warns_of_another_size_and_of_none(table: Path, tmp_path: Path) -> None:
    taught = tmp_path / "tiles.npz"
    config = tmp_path / "table.toml"
    config.write_text("state_dir = 'state'\n")
    assert asyncio.run(check_tile_set(load(config))).status == "skipped"
    assert run("teach", "--image", table / "layout.png", "--out", taught).exit_code == 0
    kept = TileSet.load(taught)
    TileSet(kept.crops, kept.kinds, kept.taught, 2 * kept.tile_px).save(taught)
    config.write_text(
        f"[camera]\ncalibration = '{table / 'calibration.json'}'\n"
        f"[detector]\ntile_set = '{taught}'\n"
    )
    check = asyncio.run(check_tile_set(load(config)))
    assert (check.status, "now they are 29 px" in check.detail) == ("warning", True)
    assert "tablectl teach" in check.remedy


def test_bad_input_is_one_line_and_exit_code_2(table: Path, tmp_path: Path) -> None:
    small = cv2.imread(str(table / "layout.png"))
    assert small is not None
    cv2.imwrite(str(tmp_path / "small.png"), small[::2, ::2])
    cases = [
        ((), "give a camera with --source"),
        (("--image", tmp_path / "none.png"), "none.png: No such file"),
        (("--image", table / "bare.png"), "no tiles are to be seen"),
        (("--image", table / "layout.png", "--size", "big"), "--size 'big'"),
        (("--image", table / "layout.png", "--weights", tmp_path), "no tile recogniser weights"),
        (("--image", table / "layout.png", "--draw", tmp_path / "x.docx"), "can't be written"),
        (("--image", table / "layout.png", "--config", tmp_path / "no.toml"), "no.toml"),
        (
            ("--image", tmp_path / "small.png", "--calibration", table / "calibration.json"),
            "560x500",
        ),
    ]
    for args, said in cases:
        result = run("teach", "--out", tmp_path / "tiles.npz", *args)
        assert result.exit_code == 2, (args, result.output)
        assert said in result.output
        assert "Traceback" not in result.output
    assert not (tmp_path / "tiles.npz").exists()


def test_what_was_seen_is_drawn_when_it_is_no_layout(table: Path, tmp_path: Path) -> None:
    picture = cv2.imread(str(table / "layout.png"))
    assert picture is not None
    picture[705:] = picture[300:600].mean(axis=(0, 1)).astype("uint8")
    cv2.imwrite(str(tmp_path / "cut.png"), picture)
    result = run("teach", "--image", tmp_path / "cut.png", "--draw", tmp_path / "seen.png")
    assert result.exit_code == 2
    assert "rows of" in result.output
    assert cv2.imread(str(tmp_path / "seen.png")) is not None
