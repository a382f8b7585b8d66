"""How a rendered table looks: materials, light, lens and camera.

Training and test draw from disjoint artwork, felts, tile materials and lamps, so that a score on
rendered test sessions says how well an unseen table is read. ``ART_SPLITS`` names who may use
which artwork: the project's own faces are kept for tests and the demonstration, training uses only
artwork handed in from outside the repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.art.raster import ArtError
from vision.art.sets import ArtSet, load_art, own_art
from vision.render.camera import CameraPose

Colour = tuple[float, float, float]
"""Red, green, blue, 0 to 255."""
Split = Literal["train", "test", "own"]
Pattern = Literal["plain", "lines", "wood", "speckles"]
_PATTERNS: Final[tuple[Pattern, ...]] = ("plain", "lines", "wood", "speckles")

ART_SPLITS: Final[dict[Split, tuple[str, ...]]] = {
    "train": (
        "hongkong",
        "riichi-regular",
        "fonts/I.MahjongHK.otf",
        "fonts/I.MahjongJP.otf",
        "fonts/I.MahjongTW.otf",
    ),
    "test": ("own",),
    "own": ("own",),
}
"""Artwork by split: paths inside the artwork folder, or ``own`` for the project's own faces."""

# Felts, backs and bodies by split: (red, green, blue).
_FELTS: Final[dict[Split, tuple[Colour, ...]]] = {
    "train": (
        (22, 110, 62), (14, 84, 52), (52, 140, 82), (18, 70, 118), (40, 96, 150), (96, 30, 40),
        (70, 74, 80), (44, 46, 50), (150, 128, 96), (196, 190, 178), (120, 88, 58), (70, 160, 120),
        (90, 150, 170), (34, 60, 44),
    ),
    "test": ((16, 98, 98), (30, 84, 66), (62, 58, 104), (112, 110, 92), (26, 122, 84)),
    "own": ((20, 104, 78),),
}  # fmt: skip
_BACKS: Final[dict[Split, tuple[Colour, ...]]] = {
    "train": (
        (20, 120, 60), (30, 90, 190), (230, 160, 30), (60, 170, 90), (190, 40, 50), (90, 60, 150),
        (236, 230, 214), (20, 70, 110), (240, 200, 60), (60, 60, 64),
    ),
    "test": ((22, 132, 118), (214, 108, 34), (44, 60, 150), (120, 150, 40)),
    "own": ((44, 98, 170),),
}  # fmt: skip
_BODIES: Final[dict[Split, tuple[Colour, ...]]] = {
    "train": ((246, 243, 232), (240, 232, 205), (250, 250, 248), (236, 222, 184), (228, 230, 226)),
    "test": ((244, 238, 218), (248, 246, 240), (232, 226, 206)),
    "own": ((244, 239, 224),),
}


@dataclass(frozen=True)
class Light:
    """A lamp: position in table mm (z upwards), share of the light, colour (1 is neutral)."""

    x_mm: float
    y_mm: float
    z_mm: float
    power: float = 1.0
    colour: Colour = (1.0, 1.0, 1.0)
    softness: float = 0.1
    """Blur of its shadows as a share of the height of what throws them."""


def default_lights() -> tuple[Light, ...]:
    """A lamp over the table, a window to the left."""
    return (
        Light(160, -260, 1500, 0.62, (1.0, 0.98, 0.94), 0.18),
        Light(-1500, 500, 1500, 0.38, (0.96, 0.99, 1.04), 0.35),
    )


@dataclass(frozen=True)
class Style:
    """Everything about a picture that is not the scene.

    Attributes:
        art: tile faces.
        felt: colour of the felt; weave and blotch are the contrast of its fine and coarse texture.
        pattern: what the surface shows: nothing, printed lines, wood, or speckles.
        rim, floor: colours of the frame around the felt and of what lies beyond.
        body, back: colours of a tile's body and back; back_share is the back's part of the depth.
        bevel, corner: width of the polished edge and radius of the corners, in tile widths.
        art_scale: size of the drawing on the face.
        engraving: darkness of the engraved line around the drawing's ink, 0 to 1.
        gloss: strength of highlights.
        lights, ambient: lamps and the share of light from everywhere.
        shadow: darkness of shadows.
        white_balance, exposure: gains of the camera.
        camera: pose and lens.
        vignette: loss of light in the corners.
        defocus_px: standard deviation of the blur.
        motion_blur: share of a frame's time that the shutter is open.
        noise: standard deviation of the sensor noise, of 255.
        flicker: relative change of brightness from frame to frame under mains light.
        jpeg_quality: quality of the camera's JPEG; ``None`` leaves the picture as it is.
        wear: scratches and stains on tiles and felt, 0 to 1.
        markers: whether the four calibration markers are on the felt.
        jitter: how tiles of one set differ in tone.
        seed: of everything random in the picture.
    """

    art: ArtSet = field(default_factory=own_art)
    felt: Colour = (22, 100, 74)
    weave: float = 0.05
    blotch: float = 0.04
    pattern: Pattern = "plain"
    rim: Colour = (66, 44, 30)
    floor: Colour = (48, 44, 42)
    body: Colour = (244, 239, 224)
    back: Colour = (44, 98, 170)
    back_share: float = 0.36
    bevel: float = 0.075
    corner: float = 0.10
    art_scale: float = 0.86
    engraving: float = 0.15
    gloss: float = 0.35
    lights: tuple[Light, ...] = field(default_factory=default_lights)
    ambient: float = 0.42
    shadow: float = 0.62
    white_balance: Colour = (1.0, 1.0, 1.0)
    exposure: float = 0.95
    camera: CameraPose = field(default_factory=lambda: CameraPose(k1=-0.03, tilt_deg=2.0))
    vignette: float = 0.14
    defocus_px: float = 0.5
    motion_blur: float = 0.4
    noise: float = 2.0
    flicker: float = 0.0
    jpeg_quality: int | None = None
    wear: float = 0.15
    markers: bool = True
    jitter: float = 0.015
    seed: int = 0

    @classmethod
    def random(
        cls, rng: np.random.Generator, split: Split = "train", art_folder: Path | None = None
    ) -> Style:
        """A random look of a table seen from above.

        Args:
            rng: source of randomness.
            split: whose felts, lamps, colours and artwork to use (``ART_SPLITS``).
            art_folder: folder that holds the artwork named in ``ART_SPLITS["train"]``; training
                never falls back to the project's own faces.

        Raises:
            ArtError: training without its artwork.
        """
        art = pick_art(rng, split, art_folder)
        if split == "train":
            art = vary_art(art, rng)
        warm = float(rng.uniform(-0.1, 0.14) if split == "train" else rng.uniform(-0.07, 0.1))
        return cls(
            art=art,
            felt=_near(rng, _FELTS[split], 14),
            weave=float(rng.uniform(0.01, 0.13)),
            blotch=float(rng.uniform(0.0, 0.06)),
            pattern=_PATTERNS[
                int(rng.choice(4, p=[0.7, 0.08, 0.14, 0.08])) if split == "train" else 0
            ],
            rim=_near(rng, ((66, 44, 30), (30, 30, 32), (150, 110, 70), (180, 176, 170)), 18),
            floor=_near(rng, ((48, 44, 42), (140, 120, 100), (90, 94, 100)), 25),
            body=_near(rng, _BODIES[split], 6),
            back=_near(rng, _BACKS[split], 16),
            back_share=float(rng.uniform(0.0, 0.5)),
            bevel=float(rng.uniform(0.03, 0.13)),
            corner=float(rng.uniform(0.05, 0.16)),
            art_scale=float(rng.uniform(0.7, 0.94)),
            engraving=float(rng.uniform(0, 0.5)),
            gloss=float(rng.uniform(0, 0.9)),
            lights=_random_lights(rng, split),
            ambient=float(rng.uniform(0.3, 0.65)),
            shadow=float(rng.uniform(0.3, 0.85)),
            white_balance=(1 + warm, 1.0, 1 - warm),
            exposure=float(rng.uniform(0.68, 1.12)),
            camera=_random_overhead(rng, split),
            vignette=float(rng.uniform(0, 0.3)),
            defocus_px=float(rng.uniform(0.2, 1.0)),
            noise=float(rng.uniform(0.5, 5)),
            wear=float(rng.uniform(0, 0.6)),
            jitter=float(rng.uniform(0, 0.03)),
            jpeg_quality=None,
            seed=int(rng.integers(1 << 31)),
        )


def pick_art(rng: np.random.Generator, split: Split, art_folder: Path | None = None) -> ArtSet:
    """One of the split's artworks.

    Raises:
        ArtError: the folder or a file of it is missing.
    """
    names = ART_SPLITS[split]
    name = names[int(rng.integers(len(names)))]
    if name == "own":
        return own_art()
    if art_folder is None:
        raise ArtError("rendering for training needs the folder of outside artwork")
    return outside_art(art_folder, name)


@lru_cache(maxsize=16)
def outside_art(folder: Path, name: str) -> ArtSet:
    """Artwork of ``ART_SPLITS["train"]``; what it lacks comes from other outside artwork."""
    complete = None if name == "hongkong" else outside_art(folder, "hongkong")
    return load_art(folder / name, fallback=complete)


def vary_art(art: ArtSet, rng: np.random.Generator) -> ArtSet:
    """The same drawings in other inks, stroke weights and widths, some of them mixed.

    Changes are those that real sets differ by: thicker or thinner strokes, inks of another tone,
    all dark ink, paler print, a stretched or turned drawing.
    """
    faces = art.faces.copy()
    weight = int(rng.integers(-1, 3))
    hue, dark = float(rng.normal(0, 5)), float(rng.uniform(0.5, 1.25))
    saturation = float(rng.choice([1.0, rng.uniform(0.3, 1.3), 0.0], p=[0.5, 0.43, 0.07]))
    if saturation == 0:
        dark *= 0.6
    levels = np.arange(256, dtype=np.float32)
    table = np.stack(
        [
            (levels + hue) % 180,
            np.minimum(levels * saturation, 255),
            np.minimum(levels * dark, 255),
        ],
        axis=-1,
    ).astype(np.uint8)[None]
    sx, sy = float(rng.uniform(0.88, 1.0)), float(rng.uniform(0.88, 1.0))
    height, width = faces.shape[1:3]
    squeeze = np.array([[sx, 0, width * (1 - sx) / 2], [0, sy, height * (1 - sy) / 2]])
    for index, face in enumerate(faces):
        faces[index] = _vary_face(face, weight, table, squeeze)
    return replace(art, faces=faces, name=f"{art.name} varied")


def _vary_face(
    face: NDArray[np.uint8], weight: int, table: NDArray[np.uint8], squeeze: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """One face with thicker or thinner strokes, other inks (a table for HSV) and proportions."""
    side = 3 if abs(weight) == 1 else 5
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    alpha = np.ascontiguousarray(face[:, :, 3])
    colour = np.ascontiguousarray(face[:, :, :3])
    if weight > 0:
        # Spread the ink's colour outwards before the strokes grow into it.
        ink = (alpha > 100).astype(np.uint8)
        spread = np.full_like(colour, 255)
        cv2.copyTo(colour, ink, spread)
        spread = np.asarray(cv2.erode(spread, kernel), np.uint8)
        cv2.copyTo(colour, ink, spread)
        colour = spread
        alpha = np.asarray(cv2.dilate(alpha, kernel), np.uint8)
    elif weight < 0:
        alpha = np.asarray(cv2.addWeighted(alpha, 0.5, cv2.erode(alpha, kernel), 0.5, 0), np.uint8)
    inked = cv2.cvtColor(cv2.LUT(cv2.cvtColor(colour, cv2.COLOR_BGR2HSV), table), cv2.COLOR_HSV2BGR)
    merged = cv2.merge([*cv2.split(inked), alpha])
    size = (alpha.shape[1], alpha.shape[0])
    return np.asarray(cv2.warpAffine(merged, squeeze, size), np.uint8)


def _random_overhead(rng: np.random.Generator, split: Split) -> CameraPose:
    """A camera over the table that leans a little to some side; seat 0 stays at the bottom.

    In training half of the pictures are turned by any angle.
    """
    azimuth = float(rng.uniform(0, 360))
    turned = split == "train" and rng.random() < 0.5
    return CameraPose(
        distance_mm=float(rng.uniform(900, 1700)),
        tilt_deg=float(rng.uniform(0, 6)),
        azimuth_deg=azimuth,
        # The roll undoes the azimuth: a lean must not turn the picture.
        roll_deg=azimuth + float(rng.uniform(0, 360) if turned else rng.uniform(-3, 3)),
        k1=float(rng.uniform(-0.08, 0.02)),
    )


def _near(rng: np.random.Generator, colours: Sequence[Colour], spread: float) -> Colour:
    chosen = np.array(colours[int(rng.integers(len(colours)))], float)
    moved = np.clip(chosen + rng.normal(0, spread / 2, 3), 4, 252)
    return float(moved[0]), float(moved[1]), float(moved[2])


def _random_lights(rng: np.random.Generator, split: Split) -> tuple[Light, ...]:
    """Lamps: training has them around the table, tests over two of its corners and beside it."""
    count = int(rng.integers(1, 4))
    lights = []
    for _ in range(count):
        if split == "train":
            angle, away = rng.uniform(0, 2 * np.pi), rng.uniform(0, 1600)
            height = rng.uniform(1100, 2600)
        else:
            angle, away = rng.uniform(0.6, 1.2) + np.pi * rng.integers(2), rng.uniform(300, 1200)
            height = rng.uniform(1200, 2000)
        tone = float(rng.uniform(-0.08, 0.08))
        lights.append(
            Light(
                float(away * np.cos(angle)),
                float(away * np.sin(angle)),
                float(height),
                float(rng.uniform(0.3, 1.0)),
                (1 + tone, 1.0, 1 - tone),
                float(rng.uniform(0.03, 0.5)),
            )
        )
    return tuple(lights)
