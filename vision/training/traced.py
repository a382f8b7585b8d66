"""Path-traced tables: ``python -m vision.training.traced --out runs/traced --sets DIR...``.

What the recogniser learns from and is measured on comes mostly from :mod:`vision.render`, which
fakes light. Here the same scenes go through the path tracer Mitsuba 3: rounded tiles of two
coloured layers, rough plastic, area lamps, soft shadows, light from tile to tile. Writes
``<set>-<width>px__<number>.png`` and ``.json`` like :mod:`vision.training.scenes`; hands and chips
are left out. The looks are those of the test split with faces of ``--sets`` (or the project's own);
``--train ART`` draws training looks with made-up sets that borrow from ``ART`` and ``--sets``, and
writes ``.jpg`` (with ``--faces`` those of a set kept back, to calibrate on). ``--layout`` lays one
of each tile out as ``tablectl teach`` wants it: pictures to teach the sets from.
Mitsuba wants LLVM 17 or later (``DRJIT_LIBLLVM_PATH``), else it is far slower.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import cv2
import mitsuba
import numpy as np
import numpy.typing as npt

from vision.art.sets import ArtSet as RenderedArt
from vision.art.sets import load_art as load_rendered
from vision.geometry import TableGeometry
from vision.render.layout import layout_scene
from vision.render.panel import PANEL_SHARE
from vision.render.renderer import Renderer
from vision.render.scene import Pose, Prop, Scene, SceneTile
from vision.render.style import Colour, Style

from .artwork import ArtSet, load_art
from .evaluate_scenes import over_layout, styled
from .outside import load_folder
from .scenes import made_up_art, random_scene, truth_row, with_hidden_backs

mitsuba.set_variant("llvm_ad_rgb", "scalar_rgb")
To: Final = mitsuba.ScalarTransform4f

Floats = npt.NDArray[np.float64]
Node = dict[str, Any]

DECAL_MM: Final = 0.04
"""Height of the ink over the face: enough that the tracer keeps them apart."""

HIDDEN_BACKS: Final = 0.35
"""Share of training pictures whose backs have nearly the felt's colour."""

BEHIND_CAMERA_MM: Final = 80.0

RIM_MM: Final = 60.0
SIDE: Final = 12
"""Squares along each side of a rounded box's faces."""


def linear(colour: Colour) -> list[float]:
    """A colour of 0 to 255 (sRGB) as linear light."""
    share = np.array(colour) / 255
    curved = ((share + 0.055) / 1.055) ** 2.4
    return [float(v) for v in np.where(share < 0.04045, share / 12.92, curved)]


def plain(values: Sequence[float]) -> Node:
    """The same linear colour everywhere."""
    return {"type": "rgb", "value": list(values)}


def plastic(colour: Node, roughness: float) -> Node:
    """Glossy material of a colour or a texture."""
    return {"type": "roughplastic", "diffuse_reflectance": colour, "alpha": roughness}


def bitmap(image: npt.NDArray[Any]) -> Node:
    """A texture from an image (H, W, 3) RGB, 0 to 255 (sRGB)."""
    texture = mitsuba.Bitmap(np.ascontiguousarray(image.astype(np.uint8)))
    texture.set_srgb_gamma(True)
    return {"type": "bitmap", "bitmap": texture, "wrap_mode": "clamp"}


def rounded_box(size: tuple[float, float, float], radius: float, path: Path) -> None:
    """Write a box (mm, centred) with round edges as OBJ; v of its texture runs upwards."""
    inner = np.array(size) / 2 - radius
    steps = np.linspace(-1, 1, SIDE + 1)
    # Squeezed towards the edges, where the curve is.
    steps = np.sign(steps) * np.abs(steps) ** 0.5
    points: list[Floats] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            base = len(points)
            for a in steps:
                for b in steps:
                    cube = np.zeros(3)
                    cube[axis], cube[(axis + 1) % 3], cube[(axis + 2) % 3] = sign, a, b
                    way = cube / np.linalg.norm(cube)
                    points.append(np.clip(cube * np.array(size) / 2, -inner, inner) + radius * way)
            for i in range(SIDE):
                for j in range(SIDE):
                    p = base + i * (SIDE + 1) + j
                    q = p + SIDE + 1
                    turn = ((p, q, q + 1), (p, q + 1, p + 1))
                    faces += turn if sign > 0 else [(a, c, b) for a, b, c in turn]
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in points]
    lines += [f"vt 0.5 {z / size[2] + 0.5:.4f}" for _, _, z in points]
    lines += [f"f {a + 1}/{a + 1} {b + 1}/{b + 1} {c + 1}/{c + 1}" for a, b, c in faces]
    path.write_text("\n".join(lines) + "\n")


def layers(style: Style) -> Node:
    """Body above back, as a texture along a tile's depth."""
    column = np.empty((64, 1, 3))
    column[:] = style.body
    backs = round(64 * style.back_share)
    if backs:
        column[-backs:] = style.back
    return bitmap(column)


class Tracer:
    """Traces scenes of one style; ``work`` is a folder for the meshes."""

    def __init__(
        self, style: Style, geometry: TableGeometry, size: tuple[int, int], work: Path, rays: int
    ) -> None:
        camera = replace(style.camera, k1=0.0, k2=0.0)
        self.style = replace(style, camera=camera, motion_blur=0.0)
        self.geometry, self.size, self.rays = geometry, size, rays
        self.truths = Renderer(self.style, geometry, size)
        """Whose truth holds here, too: same tiles, same camera."""
        self.rng = np.random.default_rng(style.seed)
        width = geometry.tile_width_mm
        self.extent = (width, width * geometry.tile_length, width * geometry.tile_depth)
        self.mesh = work / "tile.obj"
        rounded_box(self.extent, max(style.bevel, 0.04) * width, self.mesh)

    def render(self, scene: Scene) -> npt.NDArray[np.uint8]:
        """The picture (H, W, 3) BGR of a scene; its hands are not shown."""
        nodes = {**self._materials(scene), **self._table(), **self._lamps()}
        for number, tile in enumerate(scene.tiles):
            nodes |= self._tile(number, tile)
        for number, prop in enumerate(scene.props):
            nodes[f"prop{number}"] = self._prop(prop)
        if scene.panel:
            half = self.geometry.panel * self.geometry.tile_width_mm * PANEL_SHARE
            place = To().translate([0, 0, 2]).scale([half, half, 4])
            nodes["panel"] = {
                "type": "cube", "to_world": place, "bsdf": plastic(plain([0.02] * 3), 0.15)
            }  # fmt: skip
        world = mitsuba.load_dict({"type": "scene", **nodes, "sensor": self._camera(),
                                   "integrator": {"type": "path", "max_depth": 5}})  # fmt: skip
        light = np.array(mitsuba.render(world, spp=self.rays, seed=self.style.seed % (1 << 30)))
        return self._developed(light)

    def truth_rows(self, scene: Scene) -> list[dict[str, Any]]:
        """As :func:`vision.training.scenes.truth_row`."""
        return [truth_row(found) for found in self.truths.truth(scene)]

    def _materials(self, scene: Scene) -> Node:
        """What tiles are made of, once for all of them."""
        gloss = 0.05 + 0.3 * (1 - min(self.style.gloss, 1.0))
        nodes: Node = {"body": {**plastic(layers(self.style), gloss), "id": "body"}}
        for kind in sorted({int(tile.tile) for tile in scene.tiles}):
            face = self.style.art.faces[kind].astype(np.float64)
            cover = face[:, :, 3:] / 255
            # Opaque: through a mask no light would be sampled. The first row is the lowest.
            printed = face[::-1, :, 2::-1] * cover[::-1] + np.array(self.style.body) * (
                1 - cover[::-1]
            )
            nodes[f"face{kind}"] = {**plastic(bitmap(printed), gloss), "id": f"face{kind}"}
        return nodes

    def _camera(self) -> Node:
        camera = self.truths.camera
        _, down, forward = (row * (1, -1, 1) for row in camera.rotation)
        origin = camera.position * (1, -1, 1)
        view = To().look_at(origin=list(origin), target=list(origin + forward), up=list(-down))
        width, height = self.size
        film = {
            "type": "hdrfilm", "width": width, "height": height, "rfilter": {"type": "box"},
            "pixel_format": "rgb", "component_format": "float32",
        }  # fmt: skip
        angle = math.degrees(2 * math.atan(width / 2 / camera.focal))
        return {
            "type": "perspective", "to_world": view, "fov_axis": "x", "fov": angle, "film": film
        }  # fmt: skip

    def _table(self) -> Node:
        half = self.geometry.half_mm
        weave = self.rng.normal(0, self.style.weave, (1024, 1024, 1))
        coarse = self.rng.normal(0, self.style.blotch, (12, 12)).astype(np.float32)
        weave += cv2.resize(coarse, (1024, 1024), interpolation=cv2.INTER_CUBIC)[:, :, None]
        cloth = np.clip(np.array(self.style.felt) * (1 + weave), 0, 255)
        nodes: Node = {
            "felt": {
                "type": "rectangle", "to_world": To().scale([half, half, 1]),
                "bsdf": {"type": "diffuse", "reflectance": bitmap(cloth)},
            },
            "floor": {
                "type": "rectangle",
                "to_world": To().translate([0, 0, -700]).scale([4000, 4000, 1]),
                "bsdf": {"type": "diffuse", "reflectance": plain(linear(self.style.floor))},
            },
        }  # fmt: skip
        for number, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            middle = half + RIM_MM / 2
            reach = [RIM_MM / 2 if x else half + RIM_MM, RIM_MM / 2 if y else half + RIM_MM, 14]
            place = To().translate([x * middle, y * middle, 0])
            nodes[f"rim{number}"] = {
                "type": "cube", "to_world": place.scale(reach),
                "bsdf": plastic(plain(linear(self.style.rim)), 0.2),
            }  # fmt: skip
        return nodes

    def _lamps(self) -> Node:
        nodes: Node = {"sky": {"type": "constant", "radiance": plain([self.style.ambient] * 3)}}
        eye = float(self.truths.camera.position[2])
        for number, lamp in enumerate(self.style.lights):
            # One that hung before the camera is moved away: the same light from behind it.
            away = max(1.0, (eye + BEHIND_CAMERA_MM) / lamp.z_mm)
            half = 1000 * max(lamp.softness, 0.05) * away
            origin = [away * v for v in (lamp.x_mm, -lamp.y_mm, lamp.z_mm)]
            place = To().look_at(origin=origin, target=[0, 0, 0], up=[0, 1, 0.1])
            area = (2 * half / 1000) ** 2
            power = 4.5 * lamp.power / area * (origin[2] / 1500) ** 2
            nodes[f"lamp{number}"] = {
                "type": "rectangle", "to_world": place.scale([half, half, 1]),
                "emitter": {"type": "area", "radiance": plain([power * c for c in lamp.colour])},
            }  # fmt: skip
        return nodes

    def _tile(self, number: int, tile: SceneTile) -> Node:
        _, length, depth = self.extent
        place = To().translate([tile.x_mm, -tile.y_mm, 0]).rotate([0, 0, 1], -tile.rotation_deg)
        if tile.pose is Pose.STANDING:
            place = place.translate([0, 0, length / 2]).rotate([1, 0, 0], 90)
        else:
            place = place.translate([0, 0, depth * (tile.level + 0.5) + tile.lift_mm])
            if tile.pose is Pose.FLAT_DOWN:
                place = place.rotate([0, 1, 0], 180)
        nodes: Node = {
            f"tile{number}": {
                "type": "obj", "filename": str(self.mesh), "to_world": place,
                "bsdf": {"type": "ref", "id": "body"},
            }
        }  # fmt: skip
        if tile.pose is not Pose.FLAT_DOWN:
            width, scale = self.extent[0], self.style.art_scale / 2
            above = place.translate([0, 0, depth / 2 + DECAL_MM])
            nodes[f"ink{number}"] = {
                "type": "rectangle", "to_world": above.scale([width * scale, length * scale, 1]),
                "bsdf": {"type": "ref", "id": f"face{int(tile.tile)}"},
            }  # fmt: skip
        return nodes

    def _prop(self, prop: Prop) -> Node:
        place = To().translate([prop.x_mm, -prop.y_mm, prop.height_mm / 2])
        place = place.rotate([0, 0, 1], -prop.rotation_deg)
        size = [prop.width_mm / 2, prop.length_mm / 2, prop.height_mm / 2]
        return {
            "type": "cube", "to_world": place.scale(size),
            "bsdf": plastic(plain(linear(prop.colour)), 0.2),
        }  # fmt: skip

    def _developed(self, light: Floats) -> npt.NDArray[np.uint8]:
        """Linear light (H, W, 3) RGB as a camera delivers it: exposed, a little soft, noisy."""
        light = light * np.array(self.style.white_balance)
        light = light * (0.85 * self.style.exposure / np.percentile(light, 99.5))
        spread = max(self.style.defocus_px, 0.3)
        shown = np.clip(cv2.GaussianBlur(light.astype(np.float32), (0, 0), spread), 0, 1)
        shown = np.where(shown < 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
        noisy = 255 * shown + self.rng.normal(0, self.style.noise, shown.shape)
        return np.ascontiguousarray(np.clip(noisy, 0, 255).astype(np.uint8)[:, :, ::-1])


def picture_to_measure(
    options: argparse.Namespace, number: int, arts: list[RenderedArt], rng: np.random.Generator
) -> tuple[str, Style, tuple[int, int]]:
    """Name, look and size of a picture to measure with."""
    art = arts[number % len(arts)] if arts else None
    width = options.tile_px[number // max(1, len(arts)) % len(options.tile_px)]
    name = f"{art.name if art else 'own'}-{width:.0f}px__{number}.png"
    return name, styled(rng, art, width), (1920, 1080)


def picture_to_train(
    options: argparse.Namespace, number: int, arts: list[ArtSet], rng: np.random.Generator
) -> tuple[str, Style, tuple[int, int]]:
    """Name, look and size of a picture to train with: the whole felt, tiles 20 to 33 px wide."""
    art = load_rendered(options.faces) if options.faces else made_up_art(arts, rng)
    style = replace(Style.random(rng, "train", options.train), art=art)
    if rng.random() < HIDDEN_BACKS:
        style = with_hidden_backs(style, rng)
    height = int(rng.integers(700, 1150))
    return f"{number:05d}.jpg", style, (height, height)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/traced"))
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="number of the first picture")
    parser.add_argument("--seed", type=int, default=701)
    parser.add_argument("--rays", type=int, default=32, help="for each pixel")
    parser.add_argument("--sets", type=Path, nargs="*", default=[], help="folders of faces")
    parser.add_argument("--tile-px", type=float, nargs="*", default=[28.0, 48.0], help="in turn")
    parser.add_argument("--train", type=Path, help="artwork; looks and sets to train with")
    parser.add_argument("--faces", type=Path, help="with --train: faces in place of made-up ones")
    parser.add_argument("--layout", action="store_true", help="tiles laid out to be taught")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    geometry = TableGeometry()
    if options.train:
        lent = [*load_art(options.train), *(load_folder(folder) for folder in options.sets)]
    else:
        shown = [load_rendered(folder) for folder in options.sets]
    for number in range(options.first, options.first + options.count):
        rng = np.random.default_rng([options.seed, number])
        if options.train:
            name, style, size = picture_to_train(options, number, lent, rng)
        else:
            name, style, size = picture_to_measure(options, number, shown, rng)
        style = replace(style, back_share=float(rng.uniform(0.2, 0.45)))
        if options.layout:
            style = over_layout(style, geometry)
        tracer = Tracer(style, geometry, size, options.out, options.rays)
        if options.layout:
            scene = layout_scene(geometry, number)
        else:
            scene = random_scene(geometry, rng, one_set=not options.train)
        blocks = tuple(prop for prop in scene.props if not prop.round)
        scene = replace(scene, hands=(), props=blocks)
        target = options.out / name
        cv2.imwrite(str(target), tracer.render(scene))
        target.with_suffix(".json").write_text(json.dumps(tracer.truth_rows(scene)))
        print(name, flush=True)


if __name__ == "__main__":
    main()
