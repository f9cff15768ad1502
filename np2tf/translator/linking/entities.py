"""Resolves references to functions, classes, objects and modules of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar

from np2tf.translator.linking.modules import Modules
from np2tf.translator.linking.summary import ClassSummary, FunctionSummary, ModuleSummary, Ref


class Entity(NamedTuple):
    """One object that an expression may refer to.

    Attributes:
        kind: "module", "function", "class", "object" of a class, "super" of a class, "table", "getter" (the
            method `get` of a table), or "external": an object of a module that is not among the files.
        name: the qualified name within the file; for an external object, the whole dotted name.
        bindings: for an inner function, the entities that parameters of the functions around it refer to.
        is_exact: whether an object is of this class itself, and not of a derived class.
        parts: the elements of a table.
    """

    kind: str
    path: str = ""
    name: str = ""
    bindings: tuple[tuple[str, Entity], ...] = ()
    is_exact: bool = True
    parts: tuple[Entity | None, ...] = ()


#: The entities that an expression may refer to. None among them means that the text does not show all.
Entities = tuple[Entity | None, ...]
_UNKNOWN: Entities = (None,)
#: Base classes that add no methods which a call of an attribute may run.
_PLAIN_BASES = frozenset({"abc.ABC", "typing.Generic", "typing.NamedTuple", "typing.Protocol"})
_ENUMS = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
#: External decorators that leave a function as it is.
_TRANSPARENT = frozenset({"functools.wraps()", "np2tf.jit", "abc.abstractmethod", "typing.overload"})
#: The limits for the steps from a name to its entities, and for the number of these entities.
_MAX_STEPS, _MAX_ENTITIES = 60, 64


class Resolution:
    """Resolves references; `paths_mentioning` gives files that derive from a class of a given name."""

    def __init__(
        self,
        modules: Modules,
        read_summary: Callable[[str], ModuleSummary | None],
        paths_mentioning: Callable[[str], Iterable[str]],
    ) -> None:
        self._modules = modules
        self._read_summary = read_summary
        self._paths_mentioning = paths_mentioning
        self._added_paths: set[str] = set()
        self._looked_for: set[str] = set()
        self._names: dict[tuple[str, str], Entities] = {}
        self._members: dict[tuple[Entity, str], Entities] = {}
        self._derived_classes: dict[tuple[str, str], list[Entity]] = {}
        self._far = 0

    def add(self, summary: ModuleSummary) -> None:
        """Record the classes of a module, which may override methods of their bases."""
        if summary.path in self._added_paths:
            return
        self._added_paths.add(summary.path)
        for kind in summary.classes.values():
            for base in self._bases(summary.path, kind):
                if base is not None and base.kind == "class":
                    classes = self._derived_classes.setdefault((base.path, base.name), [])
                    classes.append(Entity("class", summary.path, kind.name))

    def function(self, entity: Entity) -> FunctionSummary | None:
        """Return the summary of a function."""
        summary = self._read_summary(entity.path)
        return summary.functions.get(entity.name) if summary is not None else None

    def entities(self, path: str, ref: Ref, bindings: tuple[tuple[str, Entity], ...] = ()) -> Entities:
        """Return what a reference in a file may mean; `bindings` has the entities of parameters around it."""
        if self._far > _MAX_STEPS:
            return _UNKNOWN
        self._far += 1
        try:
            entities = tuple(dict.fromkeys(self._entities(path, ref, bindings)))
        finally:
            self._far -= 1
        return entities if 0 < len(entities) <= _MAX_ENTITIES else _UNKNOWN

    def _entities(
        self, path: str, ref: Ref, bindings: tuple[tuple[str, Entity], ...]
    ) -> Iterable[Entity | None]:
        kind, name = ref.kind, ref.name
        if kind == "top":
            return self._global(path, name)
        if kind == "module":
            return (self._module(path, name),)
        if kind == "function":
            return self._decorated_entities(Entity("function", path, name, bindings))
        if kind in ("class", "super"):
            return (Entity(kind, path, name),)
        if kind == "self":
            return (Entity("object", path, name, is_exact=False),)
        if kind == "around":
            return (dict(bindings).get(name),)
        inside = [self.entities(path, part, bindings) for part in ref.parts]
        if kind == "any":
            return [entity for entities in inside for entity in entities]
        if kind == "table":
            return (Entity("table", parts=tuple(entity for entities in inside for entity in entities)),)
        if kind == "call":
            arguments = inside[1] if len(inside) > 1 else _UNKNOWN
            return [function for func in inside[0] for function in self._result(func, arguments)]
        if kind in ("attribute", "item", "object"):
            step = {
                "attribute": lambda owner: self._attribute(owner, name),
                "item": _item,
                "object": _object,
            }[kind]
            return [entity for owner in inside[0] for entity in step(owner)]
        return _UNKNOWN

    # -- modules --------------------------------------------------------------------------------------------

    def _module(self, path: str, name: str) -> Entity | None:
        if name.startswith("."):
            module_path = self._modules.relative(path, name)
            return Entity("module", module_path) if module_path is not None else None
        module_path = self._modules.absolute(name)
        return Entity("module", module_path) if module_path is not None else Entity("external", name=name)

    def _global(self, path: str, name: str) -> Entities:
        """Return the entities that a name at the top of a file may refer to."""
        return _once(self._names, (path, name), partial(self._find_global, path, name))

    def _find_global(self, path: str, name: str) -> Entities:
        summary = self._read_summary(path)
        if summary is None:
            return _UNKNOWN
        if name in summary.names:
            return self.entities(path, summary.names[name])
        for star in reversed(summary.stars):
            module = self._module(path, star.name)
            if module is None or module.kind != "module":
                return _UNKNOWN
            if self._exports(module.path, name, {path}):
                return self._global(module.path, name)
        return _UNKNOWN

    def _exports(self, path: str, name: str, seen_paths: set[str]) -> bool:
        """Return whether a star import of a file binds a name."""
        summary = self._read_summary(path)
        if summary is None or path in seen_paths:
            return False
        if summary.exports is not None:
            return name in summary.exports
        if name.startswith("_"):
            return False
        stars = (self._module(path, star.name) for star in summary.stars)
        seen_paths.add(path)
        return name in summary.names or any(
            star is not None and star.kind == "module" and self._exports(star.path, name, seen_paths)
            for star in stars
        )

    # -- steps ----------------------------------------------------------------------------------------------

    def _attribute(self, entity: Entity | None, name: str) -> Entities:
        if entity is None:
            return _UNKNOWN
        if entity.kind == "module":
            entities = self._global(entity.path, name)
            if entities != _UNKNOWN:
                return entities
            below = self._modules.below(entity.path, name)
            return (Entity("module", below),) if below is not None else _UNKNOWN
        if entity.kind == "external":
            full = f"{entity.name}.{name}"
            module_path = self._modules.absolute(full)
            return (
                Entity("module", module_path) if module_path is not None else Entity("external", name=full),
            )
        if entity.kind == "table":
            return (Entity("getter", parts=entity.parts),) if name == "get" else _UNKNOWN
        return tuple(self.members(entity, name)) or _UNKNOWN

    def _result(self, func: Entity | None, arguments: Entities) -> Entities:
        """Return the entities that calling an entity may return."""
        if func is None:
            return _UNKNOWN
        if func.kind == "class":
            return (Entity("object", func.path, func.name, is_exact=not self._is_enum(func)),)
        if func.kind == "getter":
            return func.parts
        if func.kind == "external":
            if func.name == "functools.partial":
                return arguments
            return (Entity("external", name=f"{func.name}()"),)
        summary = self.function(func) if func.kind == "function" else None
        if summary is None or not summary.returns:
            return _UNKNOWN
        if summary.returns == summary.first:
            return arguments
        bindings = [((summary.first, argument),) if argument is not None else () for argument in arguments]
        return tuple(
            Entity("function", func.path, summary.returns, (*func.bindings, *more)) for more in bindings
        )

    def _decorated_entities(self, function: Entity) -> Entities:
        """Return the entities that a function's name refers to after its decorators have been applied."""
        summary = self.function(function)
        entities: Entities = (function,)
        for ref in reversed(summary.decorators if summary is not None else ()):
            results: list[Entity | None] = []
            for decorator in self.entities(function.path, ref):
                transparent = (
                    decorator is not None and decorator.kind == "external" and decorator.name in _TRANSPARENT
                )
                results += entities if transparent else self._result(decorator, entities)
            entities = tuple(results)
        return entities

    # -- classes --------------------------------------------------------------------------------------------

    def members(self, entity: Entity, name: str) -> Iterator[Entity | None]:
        """Yield the entities that an attribute of an object or class may be; nothing if it has none."""
        if entity.kind not in ("class", "object", "super"):
            yield None
            return
        kind = Entity("class", entity.path, entity.name)
        yield from self._inherited_entities(kind, name, only_bases=entity.kind == "super")
        if entity.kind == "object" and not entity.is_exact:
            for subclass in self._all_derived(kind):
                yield from self._own_entities(subclass, name)

    def _own_entities(self, kind: Entity, name: str) -> Entities:
        """Return the entities that a class itself defines under a name."""
        return _once(self._members, (kind, name), partial(self._find_own, kind, name))

    def _find_own(self, kind: Entity, name: str) -> Entities:
        summary = self._class(kind)
        if summary is None:
            return _UNKNOWN
        if name in summary.methods:
            return self._decorated_entities(Entity("function", kind.path, f"{kind.name}.{name}"))
        if name in summary.attributes:
            if self._is_enum(kind):
                return (Entity("object", kind.path, kind.name),)
            return self.entities(kind.path, summary.attributes[name])
        return ()

    def _inherited_entities(self, kind: Entity, name: str, only_bases: bool = False) -> Entities:
        entities = () if only_bases else self._own_entities(kind, name)
        summary = self._class(kind)
        for base in self._bases(kind.path, summary) if summary is not None and not entities else ():
            if base is None or base.kind != "class":
                if base is not None and base.name in _PLAIN_BASES | _ENUMS:
                    continue
                return _UNKNOWN
            entities = self._inherited_entities(base, name)
            if entities:
                break
        return entities

    def _class(self, kind: Entity) -> ClassSummary | None:
        summary = self._read_summary(kind.path)
        return summary.classes.get(kind.name) if summary is not None else None

    def _bases(self, path: str, kind: ClassSummary) -> list[Entity | None]:
        return [entity for base in kind.bases for entity in self.entities(path, base)]

    def _is_enum(self, kind: Entity, depth: int = 0) -> bool:
        summary = self._class(kind)
        bases = self._bases(kind.path, summary) if summary is not None and depth < _MAX_STEPS else []
        return any(
            base is not None
            and (base.name in _ENUMS if base.kind == "external" else self._is_enum(base, depth + 1))
            for base in bases
        )

    def _all_derived(self, kind: Entity) -> Iterator[Entity]:
        stack, classes = [kind], {kind}
        while stack:
            top = stack.pop()
            self._look_for_derived(top.name)
            for derived_class in self._derived_classes.get((top.path, top.name), ()):
                if derived_class not in classes:
                    classes.add(derived_class)
                    stack.append(derived_class)
                    yield derived_class

    def _look_for_derived(self, name: str) -> None:
        """Read the unread files that derive classes from a class of this name."""
        if name not in self._looked_for:
            self._looked_for.add(name)
            for path in self._paths_mentioning(name):
                summary = self._read_summary(path)
                if summary is not None:
                    self.add(summary)


_Key = TypeVar("_Key")


def _once(results: dict[_Key, Entities], key: _Key, find: Callable[[], Entities]) -> Entities:
    """Return the entities stored under a key, and find them at the first call.

    While they are being found, the result is "anything", because a name may be defined by itself.
    """
    if key not in results:
        results[key] = _UNKNOWN
        results[key] = find()
    return results[key]


def _item(entity: Entity | None) -> Entities:
    if entity is not None and entity.kind == "table":
        return entity.parts or _UNKNOWN
    return _UNKNOWN


def _object(entity: Entity | None) -> Entities:
    """Return an object of a class, or of a class derived from it."""
    if entity is None or entity.kind != "class":
        return _UNKNOWN
    return (Entity("object", entity.path, entity.name, is_exact=False),)
