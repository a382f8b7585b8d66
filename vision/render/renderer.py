"""Pictures of a table as an overhead camera would take them, with ground truth.

A picture is built from layers that are kept between frames: the empty table, every solid's lit
sprite, and the finished picture before hands and noise. When a few tiles changed, only the
rectangles they touch are laid anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablectl.tiles import BACK, Tile, format_tile
from vision.geometry import TableGeometry
from vision.render.camera import Camera
from vision.render.felt import empty_table, lay, vignette_map
from vision.render.hands import MARGIN_MM, WIDTH_MM, hand_texture
from vision.render.lighting import Lighting
from vision.render.panel import PANEL_SHARE, PanelState, panel_texture
from vision.render.scene import Hand, Pose, Prop, Scene, SceneTile
from vision.render.solids import SolidMaker, Sprite
from vision.render.style import Style

Picture = NDArray[np.uint8]
Floats = NDArray[np.floating[Any]]
Points = NDArray[np.float64]
Box = tuple[int, int, int, int]
_SPRITES_KEPT = 1500
"""Sprites kept for tiles that come back; one takes some 60 kB."""


@dataclass(frozen=True, eq=False)
class TileTruth:
    """Where a tile's seen face or back is in a picture.

    Attributes:
        tile: what can be read: the kind, or :data:`tablectl.tiles.BACK` for a lying back.
        polygon: (4, 2) pixel corners, clockwise from the face's own top left.
        box: x1, y1, x2, y2 in pixels around the polygon, not clipped to the picture.
        rotation_deg: clockwise turn of the face in the picture, 0 upright.
        visible: share of the face that is inside the picture and not covered.
        source: the scene's tile.
    """

    tile: Tile
    polygon: Points
    box: tuple[float, float, float, float]
    rotation_deg: float
    visible: float
    source: SceneTile

    @property
    def name(self) -> str:
        """Text notation of ``tile``."""
        return format_tile(self.tile)


class Renderer:
    """Renders scenes of one table with one camera and style.

    The same style, size and sequence of scenes give the same pictures.
    """

    def __init__(
        self,
        style: Style | None = None,
        geometry: TableGeometry | None = None,
        size: tuple[int, int] = (1920, 1080),
        fps: float = 10.0,
    ) -> None:
        """Prepare the static layers; ``size`` is (width, height) in pixels."""
        self.style = style or Style()
        self.geometry = geometry or TableGeometry()
        self.size, self.fps = size, fps
        self.camera = Camera(self.style.camera, size, self.geometry.half_mm)
        self._lighting = Lighting(self.style)
        self._maker = SolidMaker(self.style, self.camera, self._lighting, self.geometry)
        self._empty = empty_table(self.style, self.camera, self._lighting, self.geometry)
        self._vignette = vignette_map(self.style, self.camera)
        self._ground = self._empty
        self._sprites: dict[SceneTile | Prop, Sprite | None] = {}
        self._solids: frozenset[SceneTile | Prop] = frozenset()
        self._panel: PanelState | None = None
        self._still: Picture | None = None
        self._hands: tuple[Hand, ...] = ()
        self._noise = self._make_noise()
        self._frame = 0

    # --- geometry --------------------------------------------------------------------------------

    @property
    def tile_px(self) -> float:
        """Width in pixels of a tile's face in the middle of the picture."""
        scale = self.camera.focal / self.camera.pose.distance_mm
        return self.geometry.tile_width_mm * scale

    def project(self, points_mm: ArrayLike) -> Points:
        """Table points (n, 2) on the felt or world points (n, 3), mm, to pixels (n, 2)."""
        return self.camera.project(points_mm)

    def unproject(self, points_px: ArrayLike, z_mm: float = 0.0) -> Points:
        """Pixels (n, 2) to table mm (n, 2) on the plane at ``z_mm``; the lens is undone."""
        return self.camera.unproject(points_px, z_mm)

    def homography_px_to_mm(self, z_mm: float = 0.0) -> Points:
        """(3, 3) homography from pixels to table mm; exact when the lens does not distort."""
        return self.camera.homography_px_to_mm(z_mm)

    # --- pictures --------------------------------------------------------------------------------

    def render(self, scene: Scene) -> Picture:
        """The next frame: (height, width, 3) blue, green, red."""
        self._update_still(scene)
        assert self._still is not None
        picture = self._still.copy()
        for index, hand in enumerate(scene.hands):
            before = self._hands[index] if index < len(self._hands) else hand
            self._lay_hand(picture, hand, before)
        self._hands = scene.hands
        return self._expose(picture)

    def _update_still(self, scene: Scene) -> None:
        solids: frozenset[SceneTile | Prop] = frozenset(
            (*map(self._as_seen, scene.tiles), *scene.props)
        )
        panel = PanelState.of(scene)
        dirty: list[Box] = []
        if panel != self._panel:
            dirty.append(self._draw_panel(panel))
            self._panel = panel
        for solid in sorted(solids ^ self._solids, key=repr):
            sprite = self._sprite(solid)
            if sprite is not None:
                dirty.append(sprite.bounds())
        self._solids = solids
        if self._still is None:
            self._still = np.empty((self.size[1], self.size[0], 3), np.uint8)
            dirty = [(0, 0, *self.size)]
        if not dirty:
            return
        sprites = [s for s in map(self._sprite, solids) if s is not None]
        sprites.sort(key=lambda s: (s.order, s.origin))
        for box in self._merged(dirty):
            self._still[box[1] : box[3], box[0] : box[2]] = self._compose(box, sprites)
        if len(self._sprites) > _SPRITES_KEPT:
            self._sprites = {k: v for k, v in self._sprites.items() if k in solids}

    def _as_seen(self, tile: SceneTile) -> SceneTile:
        """A tile whose face cannot be seen looks like any other in its place."""
        hidden = tile.pose is Pose.FLAT_DOWN or (
            tile.pose is Pose.STANDING and not self._maker.faces_camera(tile)
        )
        return replace(tile, tile=Tile(0)) if hidden else tile

    def _sprite(self, solid: SceneTile | Prop) -> Sprite | None:
        if solid not in self._sprites:
            make = self._maker.tile if isinstance(solid, SceneTile) else self._maker.prop
            self._sprites[solid] = make(solid)  # type: ignore[arg-type]
        return self._sprites[solid]

    def _margin(self) -> int:
        return math.ceil(3 * self.style.defocus_px) + 1

    def _merged(self, boxes: list[Box]) -> list[Box]:
        """Clip boxes to the picture, grown by the blur, and join those that overlap."""
        grow, (width, height) = self._margin(), self.size
        clipped = [
            (max(x0 - grow, 0), max(y0 - grow, 0), min(x1 + grow, width), min(y1 + grow, height))
            for x0, y0, x1, y1 in boxes
        ]
        joined: list[Box] = []
        for new in clipped:
            box = new
            if box[0] >= box[2] or box[1] >= box[3]:
                continue
            apart = []
            for other in joined:
                if _overlap(box, other):
                    box = (min(box[0], other[0]), min(box[1], other[1]),
                           max(box[2], other[2]), max(box[3], other[3]))  # fmt: skip
                else:
                    apart.append(other)
            joined = [*apart, box]
        return joined

    def _compose(self, box: Box, sprites: list[Sprite]) -> Picture:
        """Lay everything inside a box of the picture: felt, shadows, solids, blur, lens."""
        grow = self._margin()
        x0, y0 = max(box[0] - grow, 0), max(box[1] - grow, 0)
        x1, y1 = min(box[2] + grow, self.size[0]), min(box[3] + grow, self.size[1])
        part = self._ground[y0:y1, x0:x1].copy()
        touched = [s for s in sprites if _overlap(s.bounds(), (x0, y0, x1, y1))]
        dark = np.zeros(part.shape[:2], np.float32)
        for sprite in touched:
            _deepen(
                dark, sprite.shadow, (sprite.shadow_origin[0] - x0, sprite.shadow_origin[1] - y0)
            )
        part *= (1 - self.style.shadow * dark)[:, :, None]
        for sprite in touched:
            lay(part, (sprite.origin[0] - x0, sprite.origin[1] - y0), sprite.colour, sprite.alpha)
        if self.style.defocus_px > 0.05:
            part = np.asarray(cv2.GaussianBlur(part, (0, 0), self.style.defocus_px), np.float32)
        part *= self._vignette[y0:y1, x0:x1, None]
        inner = part[box[1] - y0 : box[3] - y0, box[0] - x0 : box[2] - x0]
        return np.asarray(cv2.convertScaleAbs(inner), np.uint8)

    def _draw_panel(self, state: PanelState) -> Box:
        """Put the panel into the ground layer; returns the box it covers."""
        half = self.geometry.panel * self.geometry.tile_width_mm * PANEL_SHARE
        half *= 1.06 if state.is_open else 1.0
        lift = 40.0 if state.is_open else 4.0
        corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
        quad = self.camera.project(np.concatenate([corners, np.full((4, 1), lift)], axis=1))
        light = self._lighting.irradiance((0.0, 0.0, lift), (0.0, 0.0, 1.0))
        reach = math.ceil(3 + 8 * self.tile_px / 28) if state.is_open else 4
        low = np.floor(quad.min(axis=0)).astype(int) - reach
        high = np.ceil(quad.max(axis=0)).astype(int) + reach
        self._ground = self._empty
        if not state.shown or (high < 0).any() or (low >= np.array(self.size)).any():
            return (0, 0, 0, 0)
        self._ground = self._empty.copy()
        colour, glow, alpha = panel_texture(state)
        dark = (glow[:, :, 2] + glow[:, :, 1] == 0).astype(np.float32)
        lit = cv2.merge([colour[:, :, k] * dark * np.float32(light[k]) for k in range(3)]) + glow
        small = 2 * half * self.camera.focal / self.camera.pose.distance_mm * 2
        side = int(np.clip(small, 40, lit.shape[0]))
        lit = cv2.resize(lit, (side, side), interpolation=cv2.INTER_AREA)
        cover = cv2.resize(alpha, (side, side), interpolation=cv2.INTER_AREA)
        size = (int(high[0] - low[0]), int(high[1] - low[1]))
        stacked = np.dstack([lit * cover[:, :, None], cover])
        matrix = _texture_to(cover.shape, (quad - low) * 2 + 0.5)
        warped = cv2.warpPerspective(stacked, matrix, (size[0] * 2, size[1] * 2))
        small_picture = cv2.resize(warped, size, interpolation=cv2.INTER_AREA)
        plate = np.asarray(small_picture, np.float32)
        lay(self._ground, (int(low[0]), int(low[1])), plate[:, :, :3], plate[:, :, 3])
        old = 2 * half * 1.1 * self.camera.focal / self.camera.pose.distance_mm
        middle = self.camera.project([(0.0, 0.0)])[0]
        spread = old / 2 + 60 * self.tile_px / 28
        return (
            min(int(low[0]), int(middle[0] - spread)), min(int(low[1]), int(middle[1] - spread)),
            max(int(high[0]), int(middle[0] + spread)), max(int(high[1]), int(middle[1] + spread)),
        )  # fmt: skip

    # --- hands -----------------------------------------------------------------------------------

    def _hand_quad(self, hand: Hand, z: float) -> Points:
        """World corners of a hand's texture at height ``z``, (4, 3)."""
        angle = math.radians(hand.angle_deg)
        c, s = math.cos(angle), math.sin(angle)
        w, top, bottom = WIDTH_MM / 2, -MARGIN_MM, hand.reach_mm
        local = np.array([(-w, top), (w, top), (w, bottom), (-w, bottom)])
        placed = local @ np.array([[c, -s], [s, c]]).T + (hand.x_mm, hand.y_mm)
        return np.concatenate([placed, np.full((4, 1), z)], axis=1)

    def _lay_hand(self, picture: Picture, hand: Hand, before: Hand) -> None:
        """Lay a hand's shadow and the hand on the picture, in place."""
        colour, alpha = hand_texture(hand.skin, hand.sleeve, round(hand.reach_mm / 20) * 20.0)
        scale = self.camera.focal / self.camera.pose.distance_mm
        world = self._hand_quad(hand, hand.height_mm)
        self._hand_shadow(picture, hand, alpha)
        light = self._lighting.irradiance(world[:2].mean(axis=0), (0.0, 0.0, 1.0))
        moved = (
            np.array([hand.x_mm - before.x_mm, hand.y_mm - before.y_mm])
            * scale
            * self.style.motion_blur
        )
        quad = self.camera.project(world)
        length = float(np.hypot(*moved))
        box = self._clip_box(quad, int(length) + 2)
        if box is None:
            return
        x0, y0, x1, y1 = box
        matrix = _texture_to(alpha.shape, quad - (x0, y0))
        levels = np.arange(256)[:, None] * light
        lit = cv2.LUT(colour, np.minimum(levels, 255).astype(np.uint8)[None])
        layered = cv2.merge([*cv2.split(lit), alpha])
        warped = cv2.warpPerspective(layered, matrix, (x1 - x0, y1 - y0), flags=cv2.INTER_LINEAR)
        if length > 1.5:
            warped = cv2.filter2D(warped, -1, _streak(moved))
        channels = cv2.split(warped)
        cover = cv2.merge([channels[3]] * 3)
        part = picture[y0:y1, x0:x1]
        kept = cv2.multiply(part, cv2.bitwise_not(cover), scale=1 / 255)
        added = cv2.multiply(cv2.merge(channels[:3]), cover, scale=1 / 255)
        picture[y0:y1, x0:x1] = cv2.add(kept, added)

    def _hand_shadow(self, picture: Picture, hand: Hand, alpha: Picture) -> None:
        """Darken what lies under a hand: a shadow for each lamp, and less light from above."""
        scale = self.camera.focal / self.camera.pose.distance_mm
        world = self._hand_quad(hand, hand.height_mm)
        shadows = [(world[:, :2], 12.0 * scale, 0.45 * self.style.ambient)]
        for lamp, light in enumerate(self.style.lights):
            ground = self._lighting.cast(world[:, :2], hand.height_mm * 0.85, lamp)
            blur = max(1.5, light.softness * hand.height_mm * scale * 0.6)
            shadows.append((ground, blur, float(self._lighting.shares[lamp])))
        quads = [self.camera.project(ground) for ground, _, _ in shadows]
        pad = int(2.5 * max(blur for _, blur, _ in shadows)) + 4
        box = self._clip_box(np.concatenate(quads), pad)
        if box is None:
            return
        x0, y0, x1, y1 = box
        # A soft shadow needs no more than a quarter of the picture's resolution.
        size = (-(-(x1 - x0) // 4), -(-(y1 - y0) // 4))
        passed = np.full((size[1], size[0]), 255, np.float32)
        for quad, (_, blur, share) in zip(quads, shadows, strict=True):
            matrix = _texture_to(alpha.shape, (quad - (x0, y0)) / 4)
            mask = cv2.warpPerspective(alpha, matrix, size, flags=cv2.INTER_LINEAR)
            mask = cv2.GaussianBlur(mask, (0, 0), max(blur / 4, 0.5))
            passed *= 1 - mask.astype(np.float32) * (share * self.style.shadow / 255)
        enlarged = cv2.resize(passed, (size[0] * 4, size[1] * 4), interpolation=cv2.INTER_LINEAR)
        grey = cv2.convertScaleAbs(enlarged[: y1 - y0, : x1 - x0])
        part = picture[y0:y1, x0:x1]
        picture[y0:y1, x0:x1] = cv2.multiply(part, cv2.merge([grey] * 3), scale=1 / 255)

    def _clip_box(self, quad: Points, pad: int) -> Box | None:
        low = np.floor(quad.min(axis=0)).astype(int) - pad
        high = np.ceil(quad.max(axis=0)).astype(int) + pad
        x0, y0 = max(int(low[0]), 0), max(int(low[1]), 0)
        x1, y1 = min(int(high[0]), self.size[0]), min(int(high[1]), self.size[1])
        return None if x0 >= x1 - 2 or y0 >= y1 - 2 else (x0, y0, x1, y1)

    # --- sensor ----------------------------------------------------------------------------------

    def _make_noise(self) -> tuple[Picture, Picture] | None:
        """Positive and negative parts of a noise picture somewhat larger than a frame."""
        if self.style.noise <= 0:
            return None
        noise = _grain() * np.float32(self.style.noise)
        rows = -(-(self.size[1] + 64) // noise.shape[0])
        columns = -(-(self.size[0] + 128) // noise.shape[1])
        positive, negative = (cv2.convertScaleAbs(np.maximum(v, 0)) for v in (noise, -noise))
        return np.tile(positive, (rows, columns, 1)), np.tile(negative, (rows, columns, 1))

    def _expose(self, picture: Picture) -> Picture:
        """Flicker, noise and compression of the next frame."""
        frame = self._frame
        self._frame += 1
        if self.style.flicker > 0:
            phase = 2 * math.pi * 100.37 * frame / self.fps
            gain = 1 + self.style.flicker * math.sin(phase)
            picture = np.asarray(cv2.convertScaleAbs(picture, alpha=gain), np.uint8)
        if self._noise is not None:
            rng = np.random.default_rng((self.style.seed, 6, frame))
            dx, dy = int(rng.integers(128)), int(rng.integers(64))
            window = (slice(dy, dy + self.size[1]), slice(dx, dx + self.size[0]))
            picture = np.asarray(cv2.add(picture, self._noise[0][window]), np.uint8)
            picture = np.asarray(cv2.subtract(picture, self._noise[1][window]), np.uint8)
        if self.style.jpeg_quality is not None:
            quality = [cv2.IMWRITE_JPEG_QUALITY, self.style.jpeg_quality]
            _, data = cv2.imencode(".jpg", picture, quality)
            picture = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
        return picture

    # --- truth -----------------------------------------------------------------------------------

    def truth(self, scene: Scene) -> list[TileTruth]:
        """Faces and lying backs that can be seen, in the scene's order.

        A tile of which nothing is inside the picture or uncovered is left out.
        """
        owners = np.zeros((self.size[1], self.size[0]), np.int32)
        sprites: list[tuple[Sprite, int]] = []
        every: tuple[SceneTile | Prop, ...] = (*scene.tiles, *scene.props)
        for number, solid in enumerate(every, start=1):
            sprite = self._sprite(self._as_seen(solid) if isinstance(solid, SceneTile) else solid)
            if sprite is not None:
                sprites.append((sprite, number))
        for sprite, number in sorted(sprites, key=lambda s: (s[0].order, s[0].origin)):
            _fill(owners, sprite.hull, 0)
            if sprite.face is not None:
                _fill(owners, sprite.face, number)
        for hand in scene.hands:
            self._cover_by_hand(owners, hand)
        found = []
        for sprite, number in sorted(sprites, key=lambda s: s[1]):
            if sprite.face is None:
                continue
            visible = self._visible(owners, sprite.face, number)
            if visible > 0:
                found.append(_truth_of(scene.tiles[number - 1], sprite.face, visible))
        return found

    def _cover_by_hand(self, owners: NDArray[np.int32], hand: Hand) -> None:
        _, alpha = hand_texture(hand.skin, hand.sleeve, round(hand.reach_mm / 20) * 20.0)
        quad = self.camera.project(self._hand_quad(hand, hand.height_mm))
        box = self._clip_box(quad, 1)
        if box is None:
            return
        x0, y0, x1, y1 = box
        matrix = _texture_to(alpha.shape, quad - (x0, y0))
        mask = cv2.warpPerspective(alpha, matrix, (x1 - x0, y1 - y0))
        owners[y0:y1, x0:x1][mask > 127] = 0

    def _visible(self, owners: NDArray[np.int32], face: Points, number: int) -> float:
        low = np.floor(face.min(axis=0)).astype(int)
        high = np.ceil(face.max(axis=0)).astype(int) + 1
        alone = np.zeros((int(high[1] - low[1]), int(high[0] - low[0])), np.int32)
        _fill(alone, face - low, 1)
        whole = int(alone.sum())
        x0, y0 = max(int(low[0]), 0), max(int(low[1]), 0)
        window = owners[y0 : max(int(high[1]), 0), x0 : max(int(high[0]), 0)]
        return int((window == number).sum()) / whole if whole else 0.0


@lru_cache(maxsize=1)
def _grain() -> Floats:
    """A block (512, 768, 3) of slightly smooth noise of deviation 1; frames shift it about."""
    raw = np.random.default_rng(5).standard_normal((512, 768, 3), dtype=np.float32)
    noise = cv2.GaussianBlur(raw, (0, 0), 0.45)
    return np.asarray(noise / float(noise.std()), np.float32)


def _truth_of(tile: SceneTile, face: Points, visible: float) -> TileTruth:
    kind = BACK if tile.pose is Pose.FLAT_DOWN else tile.tile
    low, high = face.min(axis=0), face.max(axis=0)
    across = (face[1] + face[2] - face[0] - face[3]) / 2
    rotation = math.degrees(math.atan2(across[1], across[0])) % 360
    box = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
    return TileTruth(kind, face, box, rotation, visible, tile)


def _fill(picture: NDArray[np.int32], polygon: Points, value: int) -> None:
    cv2.fillConvexPoly(picture, np.round(polygon * 16).astype(np.int32), value, cv2.LINE_8, 4)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _deepen(dark: Floats, shadow: Floats, origin: tuple[int, int]) -> None:
    """Take the darker of two shadows, in place."""
    height, width = dark.shape
    h, w = shadow.shape
    x0, y0 = max(origin[0], 0), max(origin[1], 0)
    x1, y1 = min(origin[0] + w, width), min(origin[1] + h, height)
    if x0 < x1 and y0 < y1:
        part = dark[y0:y1, x0:x1]
        np.maximum(
            part, shadow[y0 - origin[1] : y1 - origin[1], x0 - origin[0] : x1 - origin[0]], out=part
        )


def _texture_to(shape: tuple[int, ...], quad: Points) -> Points:
    h, w = shape[:2]
    source = np.array(
        [(-0.5, -0.5), (w - 0.5, -0.5), (w - 0.5, h - 0.5), (-0.5, h - 0.5)], np.float32
    )
    return np.asarray(cv2.getPerspectiveTransform(source, quad.astype(np.float32)), np.float64)


def _streak(moved: Points) -> Floats:
    """Averaging kernel along a movement in pixels."""
    length = min(float(np.hypot(*moved)), 31.0)
    half = math.ceil(length / 2)
    kernel = np.zeros((2 * half + 1, 2 * half + 1), np.float32)
    step = moved / np.hypot(*moved) * length / 2
    a, b = (half - step, half + step)
    cv2.line(kernel, (round(a[0]), round(a[1])), (round(b[0]), round(b[1])), 1.0, 1)
    return np.asarray(kernel / kernel.sum(), np.float32)
