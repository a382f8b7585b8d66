"""Names of the bus channels: what comes in, and what follows from it.

A replay feeds the input channels of a recording to the same program and compares what follows.
"""

from __future__ import annotations

from typing import Final

PLAN: Final = "/session/plan"
READING: Final = "/vision/reading"
SIGHT: Final = "/vision/sight"
CAMERA: Final = "/vision/camera"
CALIBRATION: Final = "/vision/calibration"
TILE_SET: Final = "/vision/tile_set"
TABLE: Final = "/table/event"
LINK: Final = "/table/link"
RESULT: Final = "/table/result"
REQUEST: Final = "/operator/request"
TICK: Final = "/clock/tick"

COMMAND: Final = "/table/command"
EVENT: Final = "/game/event"
STATE: Final = "/game/state"
SETTLEMENT: Final = "/game/settlement"
QUESTIONS: Final = "/game/questions"
RESPONSE: Final = "/operator/response"
HEALTH: Final = "/daemon/health"

GAME_INPUTS: Final = (READING, SIGHT, TABLE, RESULT, REQUEST, TICK)
"""What the referee is fed, in the order in which it stands on the bus."""
EYE_OUTPUTS: Final = (READING, SIGHT, CAMERA)
"""What the eye makes of pictures; left out when a recording is read anew."""
