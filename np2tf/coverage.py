"""The way in which np2tf provides every public NumPy name, by module. The counts come from rules/."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from np2tf import rules

REMOVED_NAMES = "numpy (names of NumPy 1)"
"""The heading for names that NumPy 2 removed; native names among them have a new name."""
_PREFIX = "numpy."


@dataclass
class Module:
    """The public names of a module or a class, by how np2tf provides them."""

    native: list[str] = field(default_factory=list)
    host: list[str] = field(default_factory=list)
    no: dict[str, str] = field(default_factory=dict)
    """Refused names, each with the reason."""

    def add(self, name: str, rule: rules.Rule) -> None:
        """Add a name to the list of its kind."""
        if rule.kind == "no":
            self.no[name] = rule.reason
        else:
            (self.native if rule.kind == "native" else self.host).append(name)

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of names that are native, host and no."""
        return len(self.native), len(self.host), len(self.no)


def coverage(part: str = "") -> dict[str, Module]:
    """Return every module with its sorted names.

    Args:
        part: a module or a part of a name, to which the result is limited; empty for all names.
    """
    every = _every_rule()
    # The main namespace comes first, then the names of NumPy 1, then the other modules by name.
    modules = dict.fromkeys(["numpy", REMOVED_NAMES, *sorted({_module(rule) for rule in every})])
    path = "numpy" + part[2:] if part == "np" or part.startswith("np.") else part
    entries = {module: Module() for module in modules}
    for rule in every:
        module = _module(rule)
        if module == path if path in modules else _has(rule, path):
            name = (
                rule.name.rpartition(".")[2] if module != REMOVED_NAMES else rule.name.removeprefix(_PREFIX)
            )
            entries[module].add(name, rule)
    return {name: module for name, module in entries.items() if any(module.counts)}


def _every_rule() -> list[rules.Rule]:
    every = {**rules.rules(), **rules.kept_names()}
    # The methods that every ufunc has are listed once, under numpy.ufunc.
    numpy_rules = (rule for rule in every.values() if not rule.owner)
    return sorted(numpy_rules, key=lambda rule: rule.name)


def _module(rule: rules.Rule) -> str:
    return REMOVED_NAMES if rule.removed else rule.name.rpartition(".")[0]


def _has(rule: rules.Rule, part: str) -> bool:
    """Return whether a name contains `part`. The module's name counts only if `part` begins with `numpy.`."""
    return part in (rule.name if part.startswith(_PREFIX) else rule.name.rpartition(".")[2])


def totals(modules: Iterable[Module]) -> tuple[int, int, int]:
    """Return how many names of several modules are native, host and no."""
    native, host, no = zip(*(module.counts for module in modules), strict=True)
    return sum(native), sum(host), sum(no)
