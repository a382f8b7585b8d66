"""Tiles and other solid things as small lit pictures with alpha, ready to be laid on the felt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from tablectl.tiles import BACK, Tile
from vision.geometry import TableGeometry
from vision.render.camera import Camera
from vision.render.lighting import Lighting
from vision.render.scene import Pose, Prop, SceneTile
from vision.render.style import Style

Floats = NDArray[np.floating[Any]]
Points = NDArray[np.float64]

_ARC = 3
"""Segments of a rounded corner."""


@dataclass(frozen=True, eq=False)
class Sprite:
    """A lit solid and its shadow.

    Attributes:
        origin: left and top pixel of the picture.
        colour: (h, w, 3) premultiplied blue, green, red, 0 to 255.
        alpha: (h, w) coverage, 0 to 1.
        shadow_origin, shadow: darkness on the felt, 0 to 1, (h, w).
        face: (4, 2) pixel corners of the seen face or back: top left, top right, bottom right,
            bottom left as its reader sees it; ``None`` when no face can be seen.
        hull: (n, 2) pixel outline of the whole solid.
        order: painting order, small first.
    """

    origin: tuple[int, int]
    colour: Floats
    alpha: Floats
    shadow_origin: tuple[int, int]
    shadow: Floats
    face: Points | None
    hull: Points
    order: tuple[float, float]

    def bounds(self) -> tuple[int, int, int, int]:
        """Pixels touched by the solid or its shadow: x0, y0, x1, y1 (exclusive)."""
        x0, y0 = self.origin
        sx, sy = self.shadow_origin
        h, w = self.alpha.shape
        sh, sw = self.shadow.shape
        return min(x0, sx), min(y0, sy), max(x0 + w, sx + sw), max(y0 + h, sy + sh)


@lru_cache(maxsize=64)
def outline(half_w: float, half_l: float, radius: float) -> Points:
    """A rounded rectangle around the origin, clockwise with y down, (n, 2)."""
    if radius <= 0:
        return np.array(
            [(-half_w, -half_l), (half_w, -half_l), (half_w, half_l), (-half_w, half_l)]
        )
    points = []
    for corner, (sx, sy) in enumerate(((1, -1), (1, 1), (-1, 1), (-1, -1))):
        cx, cy = sx * (half_w - radius), sy * (half_l - radius)
        for k in range(_ARC + 1):
            angle = math.radians(-90 + 90 * corner + 90 * k / _ARC)
            points.append((cx + radius * math.cos(angle), cy + radius * math.sin(angle)))
    return np.array(points)


@lru_cache(maxsize=16)
def bevel_normals(width: int, height: int, bevel: float, corner: float) -> NDArray[np.float32]:
    """Unit normals (3, h, w) in the tile's frame over its top, tilting outwards at the edge."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    px, py = x + 0.5 - width / 2, y + 0.5 - height / 2
    r = corner * width
    qx, qy = np.abs(px) - (width / 2 - r), np.abs(py) - (height / 2 - r)
    outside = np.hypot(np.maximum(qx, 0), np.maximum(qy, 0))
    inside = r - outside - np.minimum(np.maximum(qx, qy), 0)
    tilt = np.clip(1 - inside / max(bevel * width, 1e-3), 0, 1) ** 1.5 * math.radians(62)
    round_corner = (qx > 0) & (qy > 0)
    gx = np.where(round_corner, qx / np.maximum(outside, 1e-6), (qx >= qy).astype(np.float32))
    gy = np.where(round_corner, qy / np.maximum(outside, 1e-6), (qx < qy).astype(np.float32))
    normals = np.stack(
        [gx * np.sign(px) * np.sin(tilt), gy * np.sign(py) * np.sin(tilt), np.cos(tilt)]
    )
    return np.asarray(normals, np.float32)


class SolidMaker:
    """Makes sprites of tiles and props for one style, camera and table."""

    def __init__(
        self, style: Style, camera: Camera, lighting: Lighting, geometry: TableGeometry
    ) -> None:
        """Keep what all sprites share."""
        self.style, self.camera, self.lighting = style, camera, lighting
        self.width = geometry.tile_width_mm
        self.length = self.width * geometry.tile_length
        self.depth = self.width * geometry.tile_depth
        self._albedo: dict[tuple[Tile, int], Floats] = {}

    # --- public ----------------------------------------------------------------------------------

    def tile(self, tile: SceneTile) -> Sprite | None:
        """Sprite of a tile, ``None`` when it lies outside the picture."""
        base = tile.level * self.depth + tile.lift_mm
        standing = tile.pose is Pose.STANDING
        half_v = self.depth / 2 if standing else self.length / 2
        top = base + (self.length if standing else self.depth)
        frame = _Frame(tile.x_mm, tile.y_mm, tile.rotation_deg)
        corner = self.style.corner * self.width
        ring = frame.place(outline(self.width / 2, half_v, corner * (0.6 if standing else 1)))
        canvas = self._canvas(ring, base, top)
        if canvas is None:
            return None
        tone = self._tone(tile)
        body, back = (np.array(c[::-1]) * tone for c in (self.style.body, self.style.back))
        share = self.style.back_share
        face: Points | None
        if standing:
            face = self._standing(canvas, frame, (base, top), (body, back), tile.tile)
        else:
            down = tile.pose is Pose.FLAT_DOWN
            split = top - self.depth * share if down else base + self.depth * share
            lower, upper = (body, back) if down else (back, body)
            if share > 0:
                self._prism(canvas, ring, base, split, lower, cap=False)
            self._prism(canvas, ring, split if share > 0 else base, top, upper, cap=True)
            face = self._top(canvas, frame, top, BACK if down else tile.tile, tone)
        distance = math.hypot(
            tile.x_mm - self.camera.position[0], tile.y_mm - self.camera.position[1]
        )
        # Far things first; what is higher later.
        order = (float(tile.level) + (10.0 if tile.lift_mm > 0 else 0.0), -distance)
        return self._finish(canvas, ring, (base, top), face, order)

    def prop(self, prop: Prop) -> Sprite | None:
        """Sprite of a chip or block, ``None`` when it lies outside the picture."""
        frame = _Frame(prop.x_mm, prop.y_mm, prop.rotation_deg)
        radius = min(prop.width_mm, prop.length_mm) / 2 * (0.999 if prop.round else 0.12)
        ring = frame.place(outline(prop.width_mm / 2, prop.length_mm / 2, radius))
        canvas = self._canvas(ring, 0.0, prop.height_mm)
        if canvas is None:
            return None
        colour = np.array(prop.colour[::-1], float)
        self._prism(canvas, ring, 0.0, prop.height_mm, colour, cap=True)
        if prop.round:
            inner = frame.place(outline(prop.width_mm * 0.33, prop.length_mm * 0.33, radius * 0.66))
            self._cap(canvas, inner, prop.height_mm, colour * 0.7 + 70)
        distance = math.hypot(
            prop.x_mm - self.camera.position[0], prop.y_mm - self.camera.position[1]
        )
        return self._finish(canvas, ring, (0.0, prop.height_mm), None, (0.0, -distance))

    def faces_camera(self, tile: SceneTile) -> bool:
        """Whether the camera is on the face's side of a standing tile."""
        frame = _Frame(tile.x_mm, tile.y_mm, tile.rotation_deg)
        return float(frame.local(self.camera.position[:2])[1]) > self.depth / 2

    # --- parts -----------------------------------------------------------------------------------

    def _tone(self, tile: SceneTile) -> NDArray[np.float64]:
        """Tone of one piece: the same place always gives the same."""
        key = hash((self.style.seed, tile.level, round(tile.x_mm, 1), round(tile.y_mm, 1)))
        rng = np.random.default_rng(key & 0xFFFFFFFF)
        return 1 + rng.normal(0, self.style.jitter) + rng.normal(0, self.style.jitter / 3, 3)

    def _canvas(self, ring: Points, base: float, top: float) -> _Canvas | None:
        solid = np.concatenate([_at(ring, base), _at(ring, top)])
        seen = self.camera.project(solid)
        width, height = self.camera.size
        low, high = seen.min(axis=0), seen.max(axis=0)
        if (high < -2).any() or low[0] > width + 2 or low[1] > height + 2:
            return None
        x0, y0 = (int(v) - 1 for v in np.floor(low))
        x1, y1 = (int(v) + 2 for v in np.ceil(high))
        if (x1 - x0) * (y1 - y0) > 1_500_000:
            return None  # closer to the camera than anything on a table can be
        across = max(x1 - x0, y1 - y0)
        return _Canvas((x0, y0), (x1 - x0, y1 - y0), 3 if across < 56 else 2)

    def _prism(
        self, canvas: _Canvas, ring: Points, base: float, top: float,
        colour: NDArray[np.float64], *, cap: bool,
    ) -> None:  # fmt: skip
        """Sides that face the camera, and the lid."""
        following = np.roll(ring, -1, axis=0)
        along = following - ring
        normal = np.zeros((len(ring), 3))
        normal[:, 0], normal[:, 1] = along[:, 1], -along[:, 0]
        normal /= np.sqrt((normal**2).sum(axis=1, keepdims=True))
        middle = _at((ring + following) / 2, (base + top) / 2)
        facing = ((self.camera.position - middle) * normal).sum(axis=1)
        shown = np.flatnonzero(facing > 0)
        # Less light reaches a side low over the felt.
        low_light = 0.78 + 0.22 * min(1.0, (base + top) / 2 / self.depth)
        light = self.lighting.irradiance(middle[shown], normal[shown]) * colour * low_light
        both = self.camera.project(np.concatenate([_at(ring, base), _at(ring, top)]))
        low, high = both[: len(ring)], both[len(ring) :]
        after = (shown + 1) % len(ring)
        quads = np.stack([low[shown], low[after], high[after], high[shown]], axis=1)
        canvas.fill_all(
            quads, light, np.asarray(cv2.convexHull(both.astype(np.float32))[:, 0], np.float32)
        )
        if cap:
            self._cap(canvas, ring, top, colour)

    def _cap(self, canvas: _Canvas, ring: Points, top: float, colour: NDArray[np.float64]) -> None:
        middle = _at(ring.mean(axis=0, keepdims=True), top)
        light = self.lighting.irradiance(middle, np.array([[0.0, 0.0, 1.0]]))[0] * colour
        seen = self.camera.project(_at(ring, top))
        canvas.fill(seen, light)
        canvas.outline(seen, light * 0.72)

    def _standing(
        self, canvas: _Canvas, frame: _Frame, z: tuple[float, float],
        colours: tuple[NDArray[np.float64], NDArray[np.float64]], tile: Tile,
    ) -> Points | None:  # fmt: skip
        """A tile on its short edge: back slab away from its player, body towards them."""
        (base, top), (body, back) = z, colours
        half_w, half_d = self.width / 2, self.depth / 2
        split = -half_d + 2 * half_d * self.style.back_share
        slabs = [(split, half_d, body)]
        if self.style.back_share > 0:
            slabs.append((-half_d, split, back))
        towards = frame.local(self.camera.position[:2])[1]
        slabs.sort(key=lambda slab: abs((slab[0] + slab[1]) / 2 - towards), reverse=True)
        for low, high, colour in slabs:
            ring = frame.place(
                np.array([(-half_w, low), (half_w, low), (half_w, high), (-half_w, high)])
            )
            self._prism(canvas, ring, base, top, colour, cap=True)
        if towards <= half_d:
            return None
        ground = frame.place(np.array([(-half_w, half_d), (half_w, half_d)]))
        corners = np.concatenate([_at(ground, top), _at(ground[::-1], base)])
        quad = self.camera.project(corners)
        normal = np.array([*(frame.place(np.array([[0.0, 1.0]])) - frame.centre)[0], 0.0])
        light = self.lighting.irradiance(corners.mean(axis=0), normal)
        albedo = self._texture(tile, canvas.texture_width(quad))
        canvas.paste(albedo * light, quad)
        return quad

    def _top(
        self, canvas: _Canvas, frame: _Frame, top: float, tile: Tile, tone: NDArray[np.float64]
    ) -> Points:
        """The lid of a lying tile, with its drawing, bevel and highlights."""
        half_w, half_l = self.width / 2, self.length / 2
        flat = np.array(
            [(-half_w, -half_l), (half_w, -half_l), (half_w, half_l), (-half_w, half_l)]
        )
        quad = self.camera.project(_at(frame.place(flat), top))
        albedo = self._texture(tile, canvas.texture_width(quad)) * tone.astype(np.float32)
        height, width = albedo.shape[:2]
        normals = bevel_normals(width, height, self.style.bevel, self.style.corner)
        centre = np.array([*frame.centre, top])
        lamps = self.lighting.directions(centre)
        view = self.camera.position - centre
        view /= np.linalg.norm(view)
        above = self.lighting.irradiance(centre, np.array([0.0, 0.0, 1.0]))
        light = np.full((height, width), self.style.ambient, np.float32)
        shine = np.zeros((height, width), np.float32)
        for direction, share in zip(lamps, self.lighting.shares, strict=True):
            local = frame.turn_back(direction)
            weight = (1 - self.style.ambient) * share / max(direction[2], 0.2)
            light += np.maximum(_dot(normals, local * weight), 0)
            half = local + frame.turn_back(view)
            glint = np.maximum(_dot(normals, half / math.sqrt(float(half @ half))), 0)
            for _ in range(5):
                glint *= glint
            shine += np.float32(share) * glint
        lit = albedo * cv2.merge([light * np.float32(v) for v in above])
        lit += (shine * np.float32(self.style.gloss * 60))[:, :, None]
        rounded = outline(half_w, half_l, self.style.corner * self.width)
        canvas.paste(lit, quad, self.camera.project(_at(frame.place(rounded), top)))
        return quad

    def _texture(self, tile: Tile, width: int) -> Floats:
        """Unlit colours (h, w, 3) of a face or back at about ``width`` pixels."""
        width = min(150, max(8, (width + 3) // 4 * 4))
        key = (tile, width)
        if key not in self._albedo:
            self._albedo[key] = self._draw_texture(tile, width)
        return self._albedo[key]

    def _draw_texture(self, tile: Tile, width: int) -> Floats:
        style = self.style
        ground = style.back if tile == BACK else style.body
        wide = min(150, max(2 * width, 40))
        size = (wide, round(wide * self.length / self.width))
        picture = np.empty((size[1], size[0], 3), np.float32)
        picture[:] = np.array(ground[::-1], np.float32)
        if tile != BACK:
            self._draw_face(picture, tile)
        if style.wear > 0:
            rng = np.random.default_rng((style.seed, int(tile)))
            stain = rng.normal(0, 1, (7, 5)).astype(np.float32)
            stain = np.asarray(cv2.resize(stain, size, interpolation=cv2.INTER_CUBIC))
            picture *= 1 - style.wear * 0.05 * np.abs(stain)[:, :, None]
        height = round(width * self.length / self.width)
        small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.float32)

    def _draw_face(self, picture: Floats, tile: Tile) -> None:
        """Lay the drawing on the body, with the shade of an engraving."""
        style = self.style
        height, width = picture.shape[:2]
        w, h = round(width * style.art_scale), round(height * style.art_scale)
        art = cv2.resize(style.art.faces[tile], (w, h), interpolation=cv2.INTER_AREA)
        x, y = (width - w) // 2, (height - h) // 2
        part = picture[y : y + h, x : x + w]
        alpha = art[:, :, 3:].astype(np.float32) / 255
        ink = art[:, :, :3].astype(np.float32)
        if style.engraving > 0:
            wide = cv2.GaussianBlur(alpha[:, :, 0], (0, 0), max(0.6, width * 0.011))
            rim = np.clip(wide - np.roll(wide, (2, 2), (0, 1)), 0, 1)
            ink = ink * (1 - style.engraving * rim[:, :, None])
            part *= 1 - 0.25 * style.engraving * wide[:, :, None] * (1 - alpha)
        part *= 1 - alpha
        part += ink * alpha

    def _finish(
        self, canvas: _Canvas, ring: Points, z: tuple[float, float], face: Points | None,
        order: tuple[float, float],
    ) -> Sprite:  # fmt: skip
        base, top = z
        colour, alpha = canvas.reduced()
        shadow_origin, shadow = self._shadow(ring, base, top)
        both = np.concatenate([_at(ring, base), _at(ring, top)])
        hull = cv2.convexHull(self.camera.project(both).astype(np.float32))[:, 0]
        return Sprite(canvas.origin, colour, alpha, shadow_origin, shadow, face,
                      hull.astype(np.float64), order)  # fmt: skip

    def _shadow(self, ring: Points, base: float, top: float) -> tuple[tuple[int, int], Floats]:
        """Darkness on the felt: a soft shadow for each lamp, a dark line where the solid stands."""
        lighting = self.lighting
        scale = self.camera.focal / self.camera.pose.distance_mm
        hulls = []
        for lamp, light in enumerate(self.style.lights):
            ground = np.concatenate(
                [lighting.cast(ring, base, lamp), lighting.cast(ring, top, lamp)]
            )
            pixels = self.camera.project(ground).astype(np.float32)
            blur = max(0.6, light.softness * (base * 0.8 + (top - base) * 0.45) * scale)
            hulls.append((cv2.convexHull(pixels)[:, 0], blur, float(lighting.shares[lamp])))
        foot = self.camera.project(_at(ring, 0.0)).astype(np.float32)
        near = max(0.8, 2.5 * scale)
        hulls.append((foot, near, 0.55 if base < 1 else 0.0))
        pad = int(2.6 * max(blur for _, blur, _ in hulls)) + 2
        every = np.concatenate([hull for hull, _, _ in hulls])
        width, height = self.camera.size
        limit = np.array([width, height])
        low = np.clip(np.floor(every.min(axis=0)) - pad, -200, limit + 200).astype(int)
        high = np.clip(np.ceil(every.max(axis=0)) + pad, low + 1, limit + 201).astype(int)
        size = high - low
        dark = np.zeros((int(size[1]), int(size[0])), np.float32)
        for hull, blur, share in hulls:
            if share <= 0:
                continue
            mask = np.zeros(dark.shape, np.float32)
            fixed = np.round((hull - low) * 16).astype(np.int32)
            cv2.fillConvexPoly(mask, fixed, share, cv2.LINE_8, 4)
            dark += cv2.GaussianBlur(mask, (0, 0), blur)
        return (int(low[0]), int(low[1])), np.minimum(dark, 1.0)


class _Frame:
    """Local axes of something lying on the table: u to its right, v towards its reader."""

    def __init__(self, x: float, y: float, rotation_deg: float) -> None:
        angle = math.radians(rotation_deg)
        self.centre = np.array([x, y])
        c, s = math.cos(angle), math.sin(angle)
        self._matrix = np.array([[c, -s], [s, c]])

    def place(self, points: Points) -> Points:
        result: Points = points @ self._matrix.T + self.centre
        return result

    def local(self, point: Points) -> Points:
        result: Points = (point - self.centre) @ self._matrix
        return result

    def turn_back(self, vector: Points) -> Points:
        return np.array([*(vector[:2] @ self._matrix), vector[2]])


class _Canvas:
    """A supersampled picture of one solid."""

    def __init__(self, origin: tuple[int, int], size: tuple[int, int], samples: int) -> None:
        self.origin, self.size, self.samples = origin, size, samples
        shape = (size[1] * samples, size[0] * samples)
        self._colour = np.zeros((*shape, 3), np.float32)
        self._alpha = np.zeros(shape, np.float32)

    def _inner(self, points: Floats) -> Points:
        result: Points = (
            np.asarray(points, float) - np.array(self.origin) + 0.5
        ) * self.samples - 0.5
        return result

    def texture_width(self, quad: Points) -> int:
        """Texture pixels that match the supersampled width of a quad."""
        sides = np.linalg.norm(quad - np.roll(quad, -1, axis=0), axis=1)
        return int(max(sides[0], sides[2]) * 2)

    def fill(self, polygon: Points, colour: NDArray[np.float64]) -> None:
        fixed = _fixed(self._inner(polygon))
        cv2.fillConvexPoly(self._colour, fixed, _shade(colour), cv2.LINE_8, 4)
        cv2.fillConvexPoly(self._alpha, fixed, 1.0, cv2.LINE_8, 4)

    def outline(self, polygon: Points, colour: NDArray[np.float64]) -> None:
        """The joint along an edge, a supersampled pixel wide."""
        fixed = _fixed(self._inner(polygon))[None]
        cv2.polylines(self._colour, list(fixed), True, _shade(colour), 1, cv2.LINE_8, 4)
        self._colour *= (self._alpha > 0)[:, :, None]

    def fill_all(
        self, polygons: Points, colours: NDArray[np.float64], hull: NDArray[np.floating[Any]]
    ) -> None:
        """Fill polygons (n, k, 2) that together with others cover ``hull``."""
        for polygon, colour in zip(_fixed(self._inner(polygons)), colours, strict=True):
            cv2.fillConvexPoly(self._colour, polygon, _shade(colour), cv2.LINE_8, 4)
        cv2.fillConvexPoly(self._alpha, _fixed(self._inner(hull)), 1.0, cv2.LINE_8, 4)

    def paste(self, texture: Floats, quad: Points, clip: Points | None = None) -> None:
        """Warp a texture onto a quad, inside the polygon ``clip``."""
        height, width = texture.shape[:2]
        # Corners of the texture are the outer corners of its pixels.
        source = np.array(
            [(-0.5, -0.5), (width - 0.5, -0.5), (width - 0.5, height - 0.5), (-0.5, height - 0.5)],
            np.float32,
        )
        target = self._inner(quad)
        matrix = cv2.getPerspectiveTransform(source, target.astype(np.float32))
        shape = (self._alpha.shape[1], self._alpha.shape[0])
        warped = cv2.warpPerspective(
            np.asarray(texture, np.float32), matrix, shape, flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        mask = np.zeros(self._alpha.shape, np.uint8)
        area = target if clip is None else self._inner(clip)
        cv2.fillConvexPoly(mask, _fixed(area), 1, cv2.LINE_8, 4)
        cv2.copyTo(warped, mask, self._colour)
        cv2.copyTo(np.ones_like(self._alpha), mask, self._alpha)

    def reduced(self) -> tuple[Floats, Floats]:
        """Premultiplied colour and alpha at picture scale."""
        colour = cv2.resize(self._colour, self.size, interpolation=cv2.INTER_AREA)
        alpha = cv2.resize(self._alpha, self.size, interpolation=cv2.INTER_AREA)
        return np.minimum(colour, 255), np.asarray(alpha, np.float32)


def _fixed(points: NDArray[np.floating]) -> NDArray[np.int32]:
    """Pixels to OpenCV's fixed point with four fractional bits."""
    fixed: NDArray[np.int32] = np.rint(points * 16).astype(np.int32)
    return fixed


def _shade(colour: NDArray[np.float64]) -> tuple[float, float, float]:
    blue, green, red = colour.tolist()
    return blue, green, red


def _dot(normals: Floats, vector: NDArray[np.float64]) -> Floats:
    """Dot product of planes (3, h, w) with a vector."""
    x, y, z = (np.float32(v) for v in vector)
    result: Floats = normals[0] * x + normals[1] * y + normals[2] * z
    return result


def _at(points: Points, z: float) -> Points:
    """Plane points lifted to height ``z``."""
    result: Points = np.empty((len(points), 3))
    result[:, :2], result[:, 2] = points, z
    return result
