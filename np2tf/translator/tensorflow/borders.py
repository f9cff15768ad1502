"""What stays on NumPy in a program that is translated: places at whose borders values are converted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import libcst as cst

from np2tf.translator.tensorflow.values import CallMemory, ExchangedMemory

#: A kind of place, and what tells the place apart:
#: ("operation", expression): NumPy or a library runs it, and its operands are converted;
#: ("expression", expression): its result is converted;
#: ("statement", node): a statement, function, class or lambda whose text does not change;
#: ("name", function or file, name), ("parameter", function, name), ("attribute", class, name) and
#: ("result", function): they hold what is NumPy's;
#: ("file", file): a module that stays as it is.
Place = tuple[object, ...]


@dataclass(frozen=True)
class Cause:
    """Why something stays on NumPy: a refusal, and its place."""

    file: str
    node: cst.CSTNode
    code: str
    words: tuple[tuple[str, str], ...]


@dataclass
class Borders:
    """The places that stay on NumPy. The next time that the program is followed, they are more."""

    causes: list[Cause] = field(default_factory=list)
    _places: set[Place] = field(default_factory=set)
    _wanted: set[Place] = field(default_factory=set)

    def has(self, *place: object) -> bool:
        """Return whether a place stays on NumPy."""
        return place in self._places

    def concerns(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is an operation of NumPy's, or has a result that is NumPy's."""
        return ("operation", node) in self._places or ("expression", node) in self._places

    def want(self, *place: object) -> bool:
        """Let a place stay on NumPy from the next time on; return whether it does not yet."""
        self._wanted.add(place)
        return place not in self._places

    def keep(self, *place: object) -> None:
        """Let a place stay on NumPy from now on."""
        self._places.add(place)

    def want_memory(self, memory: Iterable[object]) -> bool:
        """Let arrays be NumPy's where they come from; return whether one of them is not yet."""
        places = [_origin(root) for root in memory]
        self._wanted.update(places)
        return not self._places.issuperset(places)

    def explain(self, cause: Cause) -> None:
        """Record why something stays on NumPy."""
        if cause not in self.causes:
            self.causes.append(cause)

    def drop_wanted(self) -> None:
        """Forget the places that are wanted."""
        self._wanted.clear()

    def take_wanted(self) -> bool:
        """Begin the next time; return whether there is a new place."""
        before = len(self._places)
        self._places |= self._wanted
        self.drop_wanted()
        return len(self._places) > before

    def names(self) -> set[Place]:
        """Return the places that are functions, classes and statements."""
        return {place for place in self._places if place[0] in ("statement", "file")}


def _origin(root: object) -> Place:
    """Return the place that an array comes from, for a root of its memory."""
    if isinstance(root, CallMemory):
        return ("expression", root.call)
    if isinstance(root, ExchangedMemory):
        return ("name", root.scope, root.name)
    if isinstance(root, tuple):
        kind, owner, name = (root[0], root[2], root[1]) if root[0] in ("global", "outer") else root
        kinds = {"param": "parameter", "attribute": "attribute"}
        return (kinds.get(kind, "name"), getattr(owner, "file", owner), name)
    return ("expression", root)
