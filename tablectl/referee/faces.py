"""Which face each tile has: what it looks like, what the rules make of it, what people say.

A face is sure when a person confirmed it or its posterior reaches the threshold.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from tablectl.engine.state import HandState
from tablectl.referee.beliefs import Belief, best, face_up, infer, leading, normalise
from tablectl.referee.book import Book, Fact
from tablectl.referee.felt import Felt
from tablectl.referee.layout import Layout
from tablectl.rules.ruleset import Equipment
from tablectl.tiles import NAMES
from vision.messages import SeenTile

_IMPLAUSIBLE = 0.02
"""Prior odds of a reading that breaks a rule against one that doesn't: people do err, rarely."""

_Found = dict[int, tuple[str, float]]
"""Face and its probability by tile."""


class Faces:
    """Decides the faces of one hand's tiles.

    Args:
        felt: what is seen of each tile.
        kit: how many tiles of each face the set has.
        threshold: posterior from which a face needs no confirmation.
    """

    def __init__(self, felt: Felt, kit: Equipment, threshold: float) -> None:
        self._felt = felt
        self._kit = kit
        self._threshold = threshold
        self._resolved: dict[int, tuple[str, float]] = {}
        self._known: dict[Fact, tuple[HandState | None, list[Belief], _Found]] = {}
        """What was worked out last for a fact, and from what."""

    def face(self, tile_id: int) -> str:
        """The face that a tile is taken to have; ``?`` where nothing is known."""
        tile = self._felt.tiles[tile_id]
        if tile.confirmed:
            return tile.confirmed
        if tile_id in self._resolved:
            return self._resolved[tile_id][0]
        return best(tile.belief)[0]

    def sure(self, tile_id: int) -> bool:
        """Whether a tile's face needs no confirmation."""
        tile = self._felt.tiles[tile_id]
        if tile.confirmed:
            return True
        return self._resolved.get(tile_id, best(tile.belief))[1] >= self._threshold

    def alternatives(self, tile_id: int) -> list[tuple[str, float]]:
        """Faces that a tile may have, the most likely first, backs left out."""
        ranked = leading(self.open_belief(tile_id))
        believed = self.face(tile_id)
        return sorted(ranked, key=lambda a: (a[0] != believed, -a[1]))

    def possible(self, seen: SeenTile) -> SeenTile | None:
        """The tile with faces that this set of tiles has; None if nothing is left of it."""
        kept = {
            name: p for name, p in seen.probabilities.items()
            if name == "back" or self._copies(name)
        }  # fmt: skip
        return seen.model_copy(update={"probabilities": kept}) if kept else None

    def open_belief(self, tile_id: int) -> Belief:
        """What a face-up tile may be: faces of which people named every copy are left out."""
        belief = face_up(self._felt.tiles[tile_id].belief)
        named = Counter(t.confirmed for t in self._felt.tiles.values() if t.confirmed)
        free = {face: p for face, p in belief.items() if named[face] < self._copies(face)}
        return normalise(free) or belief

    # --- together ---

    def resolve(self, fact: Fact, book: Book) -> None:
        """Decide the faces of a fact's tiles together, by what the rules make plausible."""
        self._resolved |= self._posterior(fact, book)

    def plausible(self, fact: Fact, book: Book) -> bool:
        """Whether the most likely faces of a fact's tiles break no rule."""
        return not self.breaks(fact, book)

    def breaks(self, fact: Fact, book: Book) -> frozenset[str]:
        """Ids of the rules that the most likely faces of a fact's tiles break."""
        faces = self._posterior(fact, book)
        likely = {i: face for i, (face, _) in faces.items()}
        return frozenset(name for name, _ in book.issues_of(fact, likely, self.face))

    def _posterior(self, fact: Fact, book: Book) -> dict[int, tuple[str, float]]:
        open_ids = [
            i for i in fact.all_tiles
            if not self._felt.tiles[i].confirmed and not self._felt.tiles[i].face_down
        ]  # fmt: skip
        if not open_ids:
            return {}
        beliefs: list[Belief] = [self.open_belief(i) for i in open_ids]
        known = self._known.get(fact)
        if known is not None and known[0] is book.state and known[1] == beliefs:
            return known[2]

        def prior(faces: tuple[str, ...]) -> float:
            issues = book.issues_of(fact, dict(zip(open_ids, faces, strict=True)), self.face)
            return float(_IMPLAUSIBLE ** min(len(issues), 2))

        posterior = infer(beliefs, prior)
        faces = posterior.faces
        found = {
            tile_id: (faces[index], posterior.marginal(index)[faces[index]])
            for index, tile_id in enumerate(open_ids)
        }
        self._known[fact] = (book.state, beliefs, found)
        return found

    def respect_copies(self, layout: Layout) -> None:
        """Where a face lies more often than the set has it, the least certain tiles are another.

        One of five equal tiles was misread; which one, is as likely as each look was to err. A tile
        that bears more than half of the blame takes its next face, the others lose what they bear.
        """
        counts = self.counted(layout)
        for face in sorted(face for face in counts if face in NAMES):
            over = counts[face] - self._copies(face)
            shown = [
                i for i in sorted(layout.explained)
                if self.face(i) == face and not self._felt.tiles[i].confirmed
            ]  # fmt: skip
            if over <= 0 or not shown:
                continue
            surely = {i: min(max(self._chance(i, face), 0.001), 0.9999) for i in shown}
            odds = {i: (1.0 - p) / p for i, p in surely.items()}
            for i in shown:
                blame = min(1.0, over * odds[i] / sum(odds.values()))
                rest = {
                    f: p for f, p in self.open_belief(i).items()
                    if f != face and counts[f] < self._copies(f)
                }  # fmt: skip
                if blame > 0.5 and rest:
                    other, p = best(normalise(rest))
                    self._resolved[i] = (other, blame * p)
                else:
                    self._resolved[i] = (face, min(surely[i], 1.0 - blame))

    def _chance(self, tile_id: int, face: str) -> float:
        """How likely a tile has a face, by its looks or by its set, whichever says more."""
        resolved, p = self._resolved.get(tile_id, (face, 0.0))
        own = self.open_belief(tile_id).get(face, 0.0)
        return max(own, p) if resolved == face else own

    def doubt_exchanges(self, layout: Layout) -> None:
        """Two tiles that rule out each other's face are no surer than that they aren't exchanged.

        Each was decided by what the other is taken for; where neither is sure by its own look, the
        exchanged reading explains as much.
        """
        shown = self.counted(layout)
        open_ = [
            i for i in sorted(layout.explained)
            if self.face(i) in NAMES and not self._felt.tiles[i].confirmed
            and shown[self.face(i)] >= self._copies(self.face(i))
            and best(self.open_belief(i))[1] < self._threshold
        ]  # fmt: skip
        for a, b in combinations(open_, 2):
            face_a, face_b = self.face(a), self.face(b)
            of_a, of_b = self.open_belief(a), self.open_belief(b)
            straight = of_a.get(face_a, 0.0) * of_b.get(face_b, 0.0)
            exchanged = of_a.get(face_b, 0.0) * of_b.get(face_a, 0.0)
            if face_a == face_b or not exchanged:
                continue
            most = straight / (straight + exchanged)
            for i, face in ((a, face_a), (b, face_b)):
                p = self._resolved.get(i, (face, 1.0))[1]
                self._resolved[i] = (face, min(p, most))

    def shown_too_often(self, layout: Layout) -> list[int]:
        """Tiles of a face that lies there more often than the set has it, confirmed ones aside."""
        count = self.counted(layout)
        return [
            i for i in sorted(layout.explained)
            if self.face(i) in NAMES and count[self.face(i)] > self._copies(self.face(i))
            and not self._felt.tiles[i].confirmed
        ]  # fmt: skip

    def counted(self, layout: Layout) -> Counter[str]:
        """How often each face lies on the table by the book."""
        return Counter(self.face(i) for i in layout.explained)

    def _copies(self, face: str) -> int:
        return self._kit.copies[NAMES.index(face)]
