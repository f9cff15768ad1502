"""`np2tf coverage`: how np2tf provides every public NumPy name, by module."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

import click

from np2tf.cli import output
from np2tf.core import rules

# -- coverage ------------------------------------------------------------------------------------------------
# The way in which np2tf provides every public NumPy name, by module. The counts come from rules/.

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


def names_by_module(part: str = "") -> dict[str, Module]:
    """Return every module with its sorted names; `part`, a module or a part of a name, limits them."""
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


# -- coverage ------------------------------------------------------------------------------------------------
# `np2tf coverage`: shows how every public NumPy name is provided.

_KINDS = ("native", "host", "no")


@click.command()
@click.argument("name", default="", metavar="[MODULE|NAME]")
@click.option("--json", "form", flag_value="json", help="Print JSON: {module: {native, host, no}}.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the tables of docs/coverage.md.")
def coverage(name: str, form: str | None) -> None:
    """Show how each public NumPy name is supported, module by module.

    native: made of TensorFlow operations, or known at compile time. host: runs on NumPy, outside graphs. no:
    refused, with the reason. For a MODULE (np.linalg), or names that contain NAME, each name is listed.
    """
    modules = names_by_module(name)
    if not modules:
        raise click.UsageError(f"no module or name like {name}; modules look like np.linalg")
    if form == "json":
        click.echo(json.dumps({name: asdict(module) for name, module in modules.items()}, indent=2))
    elif form == "markdown":
        click.echo(markdown(modules))
    elif name:
        _print_names(modules)
    else:
        _print_counts(modules)


def _print_counts(modules: Mapping[str, Module]) -> None:
    width = max(map(len, modules))
    click.echo(f"{'':{width}}" + "".join(f"{kind:>8}" for kind in _KINDS))
    for name, counts in [
        *((name, m.counts) for name, m in modules.items()),
        ("all", totals(modules.values())),
    ]:
        click.echo(f"{name:{width}}" + "".join(f"{count:8}" for count in counts))


def _print_names(modules: Mapping[str, Module]) -> None:
    for module, names in modules.items():
        click.echo(module)
        kinds = {**dict.fromkeys(names.native, "native"), **dict.fromkeys(names.host, "host")}
        for name in sorted({*kinds, *names.no}):
            reason = f": {names.no[name]}" if name in names.no else ""
            output.prose(f"  {kinds.get(name, 'no'):8}{name}{reason}", 8)


def markdown(modules: Mapping[str, Module]) -> str:
    """Return the counts as a table in Markdown, and then the names that are not native, module by module.

    Modules of which every name runs on NumPy need neither rows nor lists.
    """
    shown = {name: module for name, module in modules.items() if module.native or module.no}
    whole = [
        f"{name} ({len(module.host)})"
        for name, module in modules.items()
        if name not in shown and module.host
    ]
    lines = ["| module | native | host | no |", "|---|--:|--:|--:|"]
    rows = [*((name, module.counts) for name, module in shown.items()), ("all", totals(modules.values()))]
    lines += [f"| {name} | {' | '.join(map(str, counts))} |" for name, counts in rows]
    if whole:
        lines += ["", f"Wholly on NumPy, with the number of names: {', '.join(whole)}."]
    for name, module in shown.items():
        if module.host or module.no:
            lines += ["", f"## {name}"]
        if module.host:
            lines += ["", "On NumPy: " + ", ".join(f"`{name}`" for name in module.host) + "."]
        if module.no:
            names = ", ".join(f"`{name}`" for name in module.no)
            lines += ["", f"Refused, for a reason that `np2tf explain np.NAME` tells: {names}."]
    return "\n".join(lines)
