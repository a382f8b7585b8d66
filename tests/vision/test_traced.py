"""Path-traced pictures: skipped where Mitsuba is not installed."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tablectl.tiles import parse_tile
from vision.geometry import TableGeometry
from vision.render.scene import Pose, Scene, SceneTile
from vision.render.style import Style

pytest.importorskip("mitsuba", reason="needs the trace extra")
traced = importlib.import_module("vision.training.traced")


def test_a_rounded_box_is_closed_convex_and_of_its_size(tmp_path: Path) -> None:
    traced.rounded_box((28.0, 38.0, 21.0), 2.0, tmp_path / "box.obj")
    lines = [line.split() for line in (tmp_path / "box.obj").read_text().splitlines()]
    points = np.array([[float(v) for v in line[1:]] for line in lines if line[0] == "v"])
    faces = [[int(v.split("/")[0]) - 1 for v in line[1:]] for line in lines if line[0] == "f"]
    assert np.ptp(points, axis=0) == pytest.approx([28.0, 38.0, 21.0], abs=1e-3)
    corners = points[np.array(faces)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ij->i", normals, corners.mean(axis=1)) >= 0).all(), "all face outwards"
    signed = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert 0.9 * 28 * 38 * 21 < signed < 28 * 38 * 21


def test_tiles_lie_where_the_truth_says(tmp_path: Path) -> None:
    """Red ink on one end of a face and blue on the other, backs green, felt grey."""
    style = Style()
    faces = np.zeros_like(style.art.faces)
    half = faces.shape[1] // 2
    faces[:, :half], faces[:, half:] = (0, 0, 255, 255), (255, 0, 0, 255)
    camera = replace(style.camera, mm_per_px=0.7, tilt_deg=8.0, azimuth_deg=30.0)
    style = replace(
        style, art=replace(style.art, faces=faces), back=(20, 200, 40), felt=(90, 90, 90),
        noise=0.0, camera=camera, white_balance=(1, 1, 1),
    )  # fmt: skip
    scene = Scene(
        (
            SceneTile(parse_tile("1m"), -60, 20, 30.0),
            SceneTile(parse_tile("2m"), 50, -30, 250.0),
            SceneTile(parse_tile("3m"), 0, 60, 0.0, Pose.FLAT_DOWN),
        ),
        panel=False,
    )
    tracer = traced.Tracer(style, TableGeometry(), (320, 240), tmp_path, 4)
    picture = tracer.render(scene)
    rows = tracer.truth_rows(scene)
    assert [row["tile"] for row in rows] == ["1m", "2m", "back"]
    for row in rows:
        quad = np.array(row["quad"], np.float32)
        ends = {"top": quad[[0, 1]], "bottom": quad[[2, 3]]}
        colours = {
            end: picture[tuple(np.round(0.65 * two.mean(axis=0) + 0.35 * quad.mean(axis=0))
                               .astype(int)[::-1])].astype(int)
            for end, two in ends.items()
        }  # fmt: skip
        if row["tile"] == "back":
            assert all(c.argmax() == 1 and c[1] > c[0] + 40 for c in colours.values())
        else:
            assert colours["top"].argmax() == 2, "the face's own top is red"
            assert colours["bottom"].argmax() == 0


def test_no_lamp_hangs_before_the_camera(tmp_path: Path) -> None:
    style = Style()
    low = replace(style.lights[0], x_mm=0.0, y_mm=0.0, z_mm=400.0, softness=0.6)
    tracer = traced.Tracer(
        replace(style, lights=(low,)), TableGeometry(), (320, 240), tmp_path, 2
    )  # fmt: skip
    assert np.median(tracer.render(Scene(panel=False))) > 20
