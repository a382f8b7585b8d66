"""A bad cable: drops, flips, doubles, reorders and delays bytes, reproducibly."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Noise:
    """How bad; the first five are probabilities a byte, delays are seconds."""

    drop: float = 0.0
    corrupt: float = 0.0
    duplicate: float = 0.0
    swap: float = 0.0
    insert: float = 0.0
    delay: float = 0.0
    jitter: float = 0.0

    @classmethod
    def even(cls, probability: float, delay: float = 0.0) -> Noise:
        """Every kind of damage with the same probability a byte.

        Raises:
            ValueError: not a probability, or a negative delay.
        """
        if not 0 <= probability < 1 or delay < 0:
            raise ValueError(f"noise {probability}, delay {delay}: 0 to 1, and not negative")
        p = probability
        return cls(p, p, p, p, p, delay=delay, jitter=delay)


QUIET = Noise()


class NoisyLine:
    """One direction of a line: bytes put in come out later, changed as `noise` says.

    `noise` may be changed at any time; `cut` loses everything while it is true.
    """

    def __init__(self, noise: Noise = QUIET, *, seed: int = 0) -> None:
        """A line with its own seeded generator."""
        self.noise = noise
        self.cut = False
        self.damaged = 0
        self._random = random.Random(seed)
        self._held: deque[tuple[float, bytes]] = deque()
        self._latest = 0.0

    def put(self, data: bytes, now: float) -> None:
        """Send bytes into the line."""
        if self.cut:
            self.damaged += len(data)
            return
        changed = self._damage(data) if self.noise != QUIET else data
        due = now + self.noise.delay + self.noise.jitter * self._random.random()
        self._latest = max(self._latest, due)
        self._held.append((self._latest, changed))

    def take(self, now: float) -> bytes:
        """Bytes that have come out by now."""
        out = bytearray()
        while self._held and self._held[0][0] <= now:
            out += self._held.popleft()[1]
        return bytes(out)

    def next_due(self) -> float | None:
        """When the next bytes come out, or None."""
        return self._held[0][0] if self._held else None

    def _damage(self, data: bytes) -> bytes:
        noise, chance = self.noise, self._random.random
        out = bytearray()
        for byte in data:
            if chance() < noise.drop:
                self.damaged += 1
                continue
            value = byte
            if chance() < noise.corrupt:
                self.damaged += 1
                value ^= 1 << self._random.randrange(8)
            out.append(value)
            if chance() < noise.duplicate:
                self.damaged += 1
                out.append(value)
            if chance() < noise.insert:
                self.damaged += 1
                out.append(self._random.randrange(256))
            if len(out) > 1 and chance() < noise.swap:
                self.damaged += 1
                out[-1], out[-2] = out[-2], out[-1]
        return bytes(out)
