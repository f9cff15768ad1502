"""Finds a project's functions whose trace certainly ends, by their own or their callees' effects.

Only facts that the text shows count: a call is followed if all its possible callees are known. The result
forbids nothing, because a trace need not reach a call, and `np2tf.call` decides at run time. `np2tf check`
predicts its decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from np2tf.translator.linking.entities import Entity, Resolution
from np2tf.translator.linking.modules import Modules
from np2tf.translator.linking.summary import ModuleSummary, Use, by_callee

#: Modules of Python's standard library whose functions have effects besides computing.
_IMPURE_MODULES = frozenset({"copy", "json", "os", "pickle", "random", "shutil", "subprocess", "time"})
#: One possible callee of a call: the functions that it runs, or the reason why it cannot be traced.
_Candidate = tuple[Entity, ...] | str


class LinkedProject:
    """The summaries of a project, joined over its imports.

    `summaries` have been read, and `read_summary` reads others. `paths_mentioning` returns the unread files
    that derive a class from a class of the given name.
    """

    def __init__(
        self,
        files: Iterable[tuple[str, str]],
        summaries: Iterable[ModuleSummary],
        read_summary: Callable[[str], ModuleSummary | None] = lambda path: None,
        paths_mentioning: Callable[[str], Iterable[str]] = lambda name: (),
    ) -> None:
        self._summaries: dict[str, ModuleSummary | None] = {summary.path: summary for summary in summaries}
        self._reader = read_summary
        self._resolution = Resolution(Modules(files), self._read, paths_mentioning)
        first = [summary for summary in self._summaries.values() if summary is not None]
        for summary in first:
            self._resolution.add(summary)
        self._uses: dict[Entity, list[list[_Candidate]]] = {}
        for summary in first:
            self._follow(Entity("function", summary.path, name) for name in summary.functions)
        self._why = self._spread()

    def why(self, path: str, name: str) -> str | None:
        """Return a clause on why a trace of a function certainly ends; None if it need not end."""
        return self._why.get(Entity("function", path, name))

    def _read(self, path: str) -> ModuleSummary | None:
        if path not in self._summaries:
            self._summaries[path] = self._reader(path)
        return self._summaries[path]

    # -- calls ----------------------------------------------------------------------------------------------

    def _follow(self, functions: Iterable[Entity]) -> None:
        """Find the callees of functions, and the callees of these."""
        stack = list(functions)
        while stack:
            function = stack.pop()
            if function in self._uses:
                continue
            summary = self._resolution.function(function)
            uses = summary.uses if summary is not None else ()
            candidates = [list(self._candidates(function, use)) for use in uses]
            self._uses[function] = candidates
            stack += [
                function for use in candidates for run in use if not isinstance(run, str) for function in run
            ]

    def _candidates(self, function: Entity, use: Use) -> Iterator[_Candidate]:
        """Yield the possible callees of a use; nothing if a callee may be unknown."""
        entities = self._resolution.entities(function.path, use.ref, function.bindings)
        if None in entities:
            return
        for entity in entities:
            assert entity is not None
            if use.is_call and not (entity.kind == "function" and self._is(entity, "is_abstract")):
                yield self._run_by(entity)
            elif entity.kind == "function" and self._is(entity, "is_property"):
                yield (entity,)

    def _run_by(self, entity: Entity) -> _Candidate:
        """Return the functions that calling an entity runs."""
        if entity.kind == "function":
            return (entity,)
        if entity.kind == "external":
            module, _, path_inside = entity.name.partition(".")
            callee = entity.name.removesuffix("()")
            return (
                f"it calls `{callee}`, which has side effects"
                if path_inside and module in _IMPURE_MODULES
                else ()
            )
        names = {"class": ("__init__", "__post_init__"), "object": ("__call__",)}.get(entity.kind, ())
        members = (member for name in names for member in self._resolution.members(entity, name))
        return tuple(member for member in members if member is not None and member.kind == "function")

    def _is(self, function: Entity, fact: str) -> bool:
        return bool(getattr(self._resolution.function(function), fact, False))

    # -- reasons --------------------------------------------------------------------------------------------

    def _spread(self) -> dict[Entity, str]:
        """Return why functions end a trace: by their own effects, or by all possible callees of a call."""
        why = {}
        for function in self._uses:
            summary = self._resolution.function(function)
            if summary is not None and summary.why:
                why[function] = summary.why
        candidates = [
            (function, uses) for function, uses in self._uses.items() if function not in why and uses
        ]
        changed = True
        while changed:
            changed = False
            for function, uses in candidates:
                reason = next(filter(None, (self._reason_of_end(use, why) for use in uses)), None)
                if function not in why and reason is not None:
                    why[function] = reason
                    changed = True
        return why

    def _reason_of_end(self, use: list[_Candidate], why: dict[Entity, str]) -> str | None:
        """Return why all possible callees of a use end the trace, by the first; None if one may not."""
        reasons = [self._ending_of(run, why) for run in use]
        return reasons[0] if reasons and None not in reasons else None

    def _ending_of(self, run: _Candidate, why: dict[Entity, str]) -> str | None:
        if isinstance(run, str):
            return run
        bad = next((function for function in run if function in why), None)
        if bad is None:
            return None
        summary = self._resolution.function(bad)
        assert summary is not None
        return by_callee(bad.name, f"{bad.path}:{summary.line}", why[bad])
