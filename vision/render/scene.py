"""What lies on a table, as the renderer is told it. Positions are table coordinates in mm."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablectl.tiles import Tile


class Pose(StrEnum):
    """How a tile lies."""

    FLAT_UP = "flat_up"
    FLAT_DOWN = "flat_down"
    STANDING = "standing"


@dataclass(frozen=True)
class SceneTile:
    """One tile on the table.

    Attributes:
        tile: its kind.
        x_mm, y_mm: centre of its footprint.
        rotation_deg: clockwise as the camera sees it; 0 is upright for seat 0's player. A standing
            tile shows its face to the player for whom a lying one would be upright.
        pose: face up, face down, or standing on its short edge.
        level: 0 on the felt, 1 on another lying tile.
        lift_mm: height above its level, for a tile in a hand.
    """

    tile: Tile
    x_mm: float
    y_mm: float
    rotation_deg: float = 0.0
    pose: Pose = Pose.FLAT_UP
    level: int = 0
    lift_mm: float = 0.0


@dataclass(frozen=True)
class Hand:
    """A hand with its forearm, reaching in from a table edge.

    Attributes:
        x_mm, y_mm: where the finger tips are.
        angle_deg: direction of the fingers, clockwise, 0 pointing up the picture (away from seat
            0's player).
        reach_mm: length that is seen from finger tips to the end of the sleeve.
        skin, sleeve: colours (red, green, blue), 0 to 255.
        height_mm: height of the hand above the felt.
    """

    x_mm: float
    y_mm: float
    angle_deg: float = 0.0
    reach_mm: float = 700.0
    skin: tuple[int, int, int] = (214, 168, 138)
    sleeve: tuple[int, int, int] = (52, 60, 84)
    height_mm: float = 65.0


@dataclass(frozen=True)
class Prop:
    """Something else on the table: a chip (disc) or a block such as a stick, phone or case.

    Attributes:
        x_mm, y_mm: centre.
        width_mm, length_mm, height_mm: size; a chip's width is its diameter.
        rotation_deg: clockwise.
        colour: (red, green, blue), 0 to 255.
        round: whether it is a disc.
    """

    x_mm: float
    y_mm: float
    width_mm: float
    length_mm: float
    height_mm: float
    rotation_deg: float = 0.0
    colour: tuple[int, int, int] = (200, 40, 40)
    round: bool = False


@dataclass(frozen=True)
class Scene:
    """Everything the camera sees at one moment.

    Attributes:
        tiles, hands, props: things on and over the felt.
        dice: faces of the two dice in the centre panel; ``None`` shows an empty dome.
        panel_open: whether the centre panel is raised and the hole is open.
        led_texts: text on the panel's display towards each seat, up to four characters.
        active_seat: seat whose lamp is lit.
        panel: whether there is a panel at all (a plain table has none).
    """

    tiles: tuple[SceneTile, ...] = ()
    hands: tuple[Hand, ...] = ()
    props: tuple[Prop, ...] = ()
    dice: tuple[int, int] | None = None
    panel_open: bool = False
    led_texts: tuple[str, ...] = ("", "", "", "")
    active_seat: int | None = None
    panel: bool = True
