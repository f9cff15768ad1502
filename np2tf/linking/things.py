"""Resolves references to functions, classes, objects and modules of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar

from np2tf.linking.modules import Modules
from np2tf.linking.summary import ClassSummary, FunctionSummary, ModuleSummary, Ref


class Thing(NamedTuple):
    """One object that an expression may refer to.

    Attributes:
        kind: "module", "function", "class", "object" of a class, "super" of a class, "table", "getter" (the
            method `get` of a table), or "external": an object of a module that is not among the files.
        path: the file.
        name: the qualified name within the file; for an external object, the whole dotted name.
        bound: for an inner function, the things that parameters of the functions around it refer to.
        is_exact: whether an object is of this class itself, and not of a derived class.
        parts: the elements of a table.
    """

    kind: str
    path: str = ""
    name: str = ""
    bound: tuple[tuple[str, Thing], ...] = ()
    is_exact: bool = True
    parts: tuple[Thing | None, ...] = ()


#: The things that an expression may refer to. None among them means that the text does not show all of them.
Things = tuple[Thing | None, ...]
_ANYTHING: Things = (None,)
#: Base classes that add no methods which a call of an attribute may run.
_PLAIN_BASES = frozenset({"abc.ABC", "typing.Generic", "typing.NamedTuple", "typing.Protocol"})
_ENUMS = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
#: External decorators that leave a function as it is.
_TRANSPARENT = frozenset({"functools.wraps()", "np2tf.jit", "abc.abstractmethod", "typing.overload"})
#: The limits for the steps from a name to its things, and for the number of these things.
_FARTHEST, _MOST = 60, 64


class Resolution:
    """Resolves references to things.

    Args:
        modules: the project's files.
        read: returns a file's summary; None if it has none.
        mentioning: returns the files that derive a class from a class of the given name.
    """

    def __init__(
        self,
        modules: Modules,
        read: Callable[[str], ModuleSummary | None],
        mentioning: Callable[[str], Iterable[str]],
    ) -> None:
        self._modules = modules
        self._read = read
        self._mentioning = mentioning
        self._added: set[str] = set()
        self._looked_for: set[str] = set()
        self._names: dict[tuple[str, str], Things] = {}
        self._members: dict[tuple[Thing, str], Things] = {}
        self._derived: dict[tuple[str, str], list[Thing]] = {}
        self._far = 0

    def add(self, summary: ModuleSummary) -> None:
        """Record the classes of a module, which may override methods of their bases."""
        if summary.path in self._added:
            return
        self._added.add(summary.path)
        for kind in summary.classes.values():
            for base in self._bases(summary.path, kind):
                if base is not None and base.kind == "class":
                    derived = self._derived.setdefault((base.path, base.name), [])
                    derived.append(Thing("class", summary.path, kind.name))

    def function(self, thing: Thing) -> FunctionSummary | None:
        """Return the summary of a function."""
        summary = self._read(thing.path)
        return summary.functions.get(thing.name) if summary is not None else None

    def things(self, path: str, ref: Ref, bound: tuple[tuple[str, Thing], ...] = ()) -> Things:
        """Return the things that a reference in a file may refer to; `bound` has the things of parameters
        around it.
        """
        if self._far > _FARTHEST:
            return _ANYTHING
        self._far += 1
        try:
            found = tuple(dict.fromkeys(self._things(path, ref, bound)))
        finally:
            self._far -= 1
        return found if 0 < len(found) <= _MOST else _ANYTHING

    def _things(self, path: str, ref: Ref, bound: tuple[tuple[str, Thing], ...]) -> Iterable[Thing | None]:
        kind, name = ref.kind, ref.name
        if kind == "top":
            return self._global(path, name)
        if kind == "module":
            return (self._module(path, name),)
        if kind == "function":
            return self._decorated_things(Thing("function", path, name, bound))
        if kind in ("class", "super"):
            return (Thing(kind, path, name),)
        if kind == "self":
            return (Thing("object", path, name, is_exact=False),)
        if kind == "around":
            return (dict(bound).get(name),)
        inside = [self.things(path, part, bound) for part in ref.parts]
        if kind == "any":
            return [one for found in inside for one in found]
        if kind == "table":
            return (Thing("table", parts=tuple(one for found in inside for one in found)),)
        if kind == "call":
            arguments = inside[1] if len(inside) > 1 else _ANYTHING
            return [one for func in inside[0] for one in self._result(func, arguments)]
        if kind in ("attribute", "item", "object"):
            step = {"attribute": lambda one: self._attribute(one, name), "item": _item, "object": _object}[
                kind
            ]
            return [found for one in inside[0] for found in step(one)]
        return _ANYTHING

    # -- modules --------------------------------------------------------------------------------------------

    def _module(self, path: str, name: str) -> Thing | None:
        if name.startswith("."):
            found = self._modules.relative(path, name)
            return Thing("module", found) if found is not None else None
        found = self._modules.absolute(name)
        return Thing("module", found) if found is not None else Thing("external", name=name)

    def _global(self, path: str, name: str) -> Things:
        """Return the things that a name at the top of a file may refer to."""
        return _once(self._names, (path, name), partial(self._find_global, path, name))

    def _find_global(self, path: str, name: str) -> Things:
        summary = self._read(path)
        if summary is None:
            return _ANYTHING
        if name in summary.names:
            return self.things(path, summary.names[name])
        for star in reversed(summary.stars):
            module = self._module(path, star.name)
            if module is None or module.kind != "module":
                return _ANYTHING
            if self._exports(module.path, name, {path}):
                return self._global(module.path, name)
        return _ANYTHING

    def _exports(self, path: str, name: str, seen: set[str]) -> bool:
        """Return whether a star import of a file binds a name."""
        summary = self._read(path)
        if summary is None or path in seen:
            return False
        if summary.exports is not None:
            return name in summary.exports
        if name.startswith("_"):
            return False
        stars = (self._module(path, star.name) for star in summary.stars)
        seen.add(path)
        return name in summary.names or any(
            star is not None and star.kind == "module" and self._exports(star.path, name, seen)
            for star in stars
        )

    # -- steps ----------------------------------------------------------------------------------------------

    def _attribute(self, thing: Thing | None, name: str) -> Things:
        if thing is None:
            return _ANYTHING
        if thing.kind == "module":
            found = self._global(thing.path, name)
            if found != _ANYTHING:
                return found
            below = self._modules.below(thing.path, name)
            return (Thing("module", below),) if below is not None else _ANYTHING
        if thing.kind == "external":
            full = f"{thing.name}.{name}"
            known = self._modules.absolute(full)
            return (Thing("module", known) if known is not None else Thing("external", name=full),)
        if thing.kind == "table":
            return (Thing("getter", parts=thing.parts),) if name == "get" else _ANYTHING
        return tuple(self.members(thing, name)) or _ANYTHING

    def _result(self, func: Thing | None, arguments: Things) -> Things:
        """Return the things that calling a thing may return."""
        if func is None:
            return _ANYTHING
        if func.kind == "class":
            return (Thing("object", func.path, func.name, is_exact=not self._is_enum(func)),)
        if func.kind == "getter":
            return func.parts
        if func.kind == "external":
            if func.name == "functools.partial":
                return arguments
            return (Thing("external", name=f"{func.name}()"),)
        summary = self.function(func) if func.kind == "function" else None
        if summary is None or not summary.returns:
            return _ANYTHING
        if summary.returns == summary.first:
            return arguments
        made = [((summary.first, one),) if one is not None else () for one in arguments]
        return tuple(Thing("function", func.path, summary.returns, (*func.bound, *more)) for more in made)

    def _decorated_things(self, function: Thing) -> Things:
        """Return the things that a function's name refers to after its decorators have been applied."""
        summary = self.function(function)
        found: Things = (function,)
        for ref in reversed(summary.decorators if summary is not None else ()):
            made: list[Thing | None] = []
            for one in self.things(function.path, ref):
                transparent = one is not None and one.kind == "external" and one.name in _TRANSPARENT
                made += found if transparent else self._result(one, found)
            found = tuple(made)
        return found

    # -- classes --------------------------------------------------------------------------------------------

    def members(self, thing: Thing, name: str) -> Iterator[Thing | None]:
        """Yield the things that the attribute `name` of an object or a class may be; nothing if it has no
        such attribute.
        """
        if thing.kind not in ("class", "object", "super"):
            yield None
            return
        kind = Thing("class", thing.path, thing.name)
        yield from self._inherited_things(kind, name, only_bases=thing.kind == "super")
        if thing.kind == "object" and not thing.is_exact:
            for derived in self._all_derived(kind):
                yield from self._own_things(derived, name)

    def _own_things(self, kind: Thing, name: str) -> Things:
        """Return the things that a class itself defines under a name."""
        return _once(self._members, (kind, name), partial(self._find_own, kind, name))

    def _find_own(self, kind: Thing, name: str) -> Things:
        summary = self._class(kind)
        if summary is None:
            return _ANYTHING
        if name in summary.methods:
            return self._decorated_things(Thing("function", kind.path, f"{kind.name}.{name}"))
        if name in summary.attributes:
            if self._is_enum(kind):
                return (Thing("object", kind.path, kind.name),)
            return self.things(kind.path, summary.attributes[name])
        return ()

    def _inherited_things(self, kind: Thing, name: str, only_bases: bool = False) -> Things:
        found = () if only_bases else self._own_things(kind, name)
        summary = self._class(kind)
        for base in self._bases(kind.path, summary) if summary is not None and not found else ():
            if base is None or base.kind != "class":
                if base is not None and base.name in _PLAIN_BASES | _ENUMS:
                    continue
                return _ANYTHING
            found = self._inherited_things(base, name)
            if found:
                break
        return found

    def _class(self, kind: Thing) -> ClassSummary | None:
        summary = self._read(kind.path)
        return summary.classes.get(kind.name) if summary is not None else None

    def _bases(self, path: str, kind: ClassSummary) -> list[Thing | None]:
        return [one for base in kind.bases for one in self.things(path, base)]

    def _is_enum(self, kind: Thing, depth: int = 0) -> bool:
        summary = self._class(kind)
        bases = self._bases(kind.path, summary) if summary is not None and depth < _FARTHEST else []
        return any(
            base is not None
            and (base.name in _ENUMS if base.kind == "external" else self._is_enum(base, depth + 1))
            for base in bases
        )

    def _all_derived(self, kind: Thing) -> Iterator[Thing]:
        pending, seen = [kind], {kind}
        while pending:
            top = pending.pop()
            self._look_for_derived(top.name)
            for one in self._derived.get((top.path, top.name), ()):
                if one not in seen:
                    seen.add(one)
                    pending.append(one)
                    yield one

    def _look_for_derived(self, name: str) -> None:
        """Read the unread files that derive classes from a class of this name."""
        if name not in self._looked_for:
            self._looked_for.add(name)
            for path in self._mentioning(name):
                summary = self._read(path)
                if summary is not None:
                    self.add(summary)


_Key = TypeVar("_Key")


def _once(known: dict[_Key, Things], key: _Key, find: Callable[[], Things]) -> Things:
    """Return the things stored under a key, and find them at the first call.

    While they are being found, the result is "anything", because a name may be defined by itself.
    """
    if key not in known:
        known[key] = _ANYTHING
        known[key] = find()
    return known[key]


def _item(thing: Thing | None) -> Things:
    if thing is not None and thing.kind == "table":
        return thing.parts or _ANYTHING
    return _ANYTHING


def _object(thing: Thing | None) -> Things:
    """Return an object of a class, or of a class derived from it."""
    if thing is None or thing.kind != "class":
        return _ANYTHING
    return (Thing("object", thing.path, thing.name, is_exact=False),)
