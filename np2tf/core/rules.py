"""The NumPy API map: loads rules/*.toml (standard library only)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

# A chapter lists its names by the way np2tf provides them, and facts about single names:
#
#     prefix = "numpy"                 # where the names live
#     native = ["sum", "prod"]         # TensorFlow ops: traceable, differentiable, on device
#     host = ["block"]                 # handed to NumPy and wrapped
#     [no]                             # refused, with the reason
#     matrix = "..."
#     [facts.copyto]                   # anything else that is known of a name
#     writes = ["dst"]
#     [facts.row_stack]
#     until = "2.4"                    # the last version of NumPy that has it (`since`: the first one)
#     [facts_of_all]                   # facts of every name of the chapter
#     returns_array = true
#     [exceptions]                     # … but not of these
#     returns_array = ["sum", "prod"]
#     [facts_of_some]                  # facts of several names
#     returns_view = ["reshape", "ravel"]
#     [of_each.at]                     # methods that every name of the chapter has
#     writes = ["a"]
#     [examples]                       # last: read only when asked for
#     sum = ["np.sum(a, axis=0)"]      # of native names; expressions over a, b, v, s and k (`OPERANDS`)
#
# The files of rules/modules/ list, in the same way, names that the translator does not rename (`kept`). The
# files of rules/scipy/ list functions of SciPy that run on TensorFlow in staged code (`scipy`), with the
# parameters that they take there:
#
#     [facts]
#     lfilter.parameters = ["b", "a", "x", "axis"]

if sys.version_info >= (3, 11):
    import tomllib as tomllib
else:  # pragma: no cover
    import tomli as tomllib

_OTHER_TABLES = frozenset({"diagnostics"})
#: The line that begins the examples of a chapter, which are its last table.
_EXAMPLES = "\n[examples]\n"
#: The meaning of the names in an example.
OPERANDS = {
    "a": "an array, two-dimensional unless said otherwise",
    "b": "an array of the shape and dtype of a, its elements positive",
    "v": "three numbers",
    "s": "a symmetric positive definite matrix, 3 by 3",
    "k": "three indices: 2, 0, 1",
}


class Rule(NamedTuple):
    """The facts about one public NumPy name."""

    name: str
    chapter: str
    kind: str
    since: str = ""
    """The version of NumPy that brought the name, if some supported version lacks it …"""
    until: str = ""
    """… and the last version that has it, if NumPy removed it."""
    writes: tuple[str, ...] = ()
    """The parameters that the function writes to; the first of them is also the first positional parameter.
    """
    returns_view: bool = False
    dynamic_shape: bool = False
    random: bool = False
    draws: bool = False
    """It draws random numbers, or makes a generator, and staged code draws as NumPy does."""
    number: bool = False
    """The name is a number or a truth value, no function."""
    ufunc: bool = False
    same_object: bool = False
    """`np.name is tnp.name`, so that an identity test may stay as it is."""
    overridable: bool = False
    """NumPy's own function asks its array arguments for their protocols, so it works on arrays of `tnp`."""
    creates: bool = False
    """It makes new arrays; what it is given may be lengths, numbers and lists, and need not be arrays."""
    returns_array: bool = False
    """It returns one array, for any arguments: no number, tuple, list or None."""
    static: bool = False
    """Its result depends on shapes and dtypes, never on the elements of arrays."""
    needs_value: bool = False
    """For a method or attribute: it reads the elements or the memory of the array at once."""
    calls_first: bool = False
    """Its first argument is a function, which it calls."""
    acts: bool = False
    """It reads or writes files, settings or texts: it has no place in a graph, nor in a reordered line."""
    outside: bool = False
    """It acts on files or settings: running it once, while staging, would be wrong."""
    shows_errors: bool = False
    """It raises nothing that depends on data, or compiled code discards the call where NumPy raises."""
    computes_nothing: bool = False
    """It is for tests, types, errors or versions: nothing is lost where it stays on NumPy."""
    reason: str = ""
    """Why the name is refused, or why a module stays on NumPy."""
    new_name: str = ""
    """For a name that NumPy 2 removed: its present name, relative to `numpy`."""
    removed: bool = False
    """NumPy 2 has no such name, or will have none."""
    builtin: bool = False
    """`new_name` is a Python builtin …"""
    when_hidden: str = ""
    """… and this is NumPy's type for it, used where another name hides the builtin."""
    negated: bool = False
    """The old constant is minus the new one."""
    flattens: bool = False
    """The old function flattened its first argument; the new one keeps its shape."""
    arguments: tuple[tuple[str, Any], ...] = ()
    """Keyword arguments with which the new function does what the old function did; a string is the name of a
    dtype.
    """
    keywords: tuple[tuple[str, str], ...] = ()
    """The parameters of the old function, each with its name in the new function, where the names differ."""
    dtypes: tuple[str, ...] = ()
    """The dtypes that the old function took as its only argument besides the array, by their names and codes.
    For another dtype it took the dtype of `arguments`.
    """
    expression: str = ""
    """Python's expression for a constant that NumPy removed."""
    parameters: tuple[str, ...] = ()
    """For a function of SciPy that is no ufunc: the parameters that its TensorFlow version has."""
    owner: str = ""
    """For a method listed under `of_each`: the name that owns it."""

    def exists_in(self, numpy: str) -> bool:
        """Return whether a version of NumPy ("2.4.1") has the name."""
        version = _minor(numpy)
        return _minor(self.since or "0") <= version and (not self.until or version <= _minor(self.until))


def _minor(version: str) -> tuple[int, ...]:
    """Return the major and minor number of a version. Releases with a higher third number add and remove no
    names.
    """
    return tuple(int(part) for part in version.split(".")[:2])


def rules_folder() -> Path:
    """Return the folder of the tables: inside an installed package, or beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "rules", package.parent / "rules"):
        if (folder / "diagnostics.toml").is_file():
            return folder
    raise FileNotFoundError("np2tf is installed without its rules folder: install it again")


def _text(stem: str) -> str:
    return (rules_folder() / f"{stem}.toml").read_text(encoding="utf-8")


def read_table(stem: str) -> dict[str, Any]:
    """Return one table of the rules folder without its examples, as plain data."""
    return tomllib.loads(_text(stem).partition(_EXAMPLES)[0])


def chapters() -> tuple[str, ...]:
    """Return the stems of the files that list names."""
    return tuple(
        sorted(path.stem for path in rules_folder().glob("*.toml") if path.stem not in _OTHER_TABLES)
    )


def _chapter(stem: str) -> dict[str, Rule]:
    table = read_table(stem)
    prefix, facts = table.get("prefix", "numpy"), table.get("facts", {})
    kinds = {name: kind for kind in ("native", "host") for name in table.get(kind, ())}
    reasons: dict[str, str] = table.get("no", {})
    kinds.update(dict.fromkeys(reasons, "no"))
    unknown = set(facts) - set(kinds)
    if unknown:
        raise ValueError(f"rules/{stem}.toml has facts about names it does not list: {sorted(unknown)}")
    exceptions: dict[str, list[str]] = table.get("exceptions", {})
    of_some: dict[str, list[str]] = table.get("facts_of_some", {})
    unknown = {name for names in (*exceptions.values(), *of_some.values()) for name in names} - set(kinds)
    unknown |= set(exceptions) - set(table.get("facts_of_all", {}))
    if unknown:
        raise ValueError(
            f"rules/{stem}.toml has exceptions or facts of some that it does not list: {sorted(unknown)}"
        )
    shared_facts: dict[str, dict[str, Any]] = {}
    for key, names in of_some.items():
        for name in names:
            shared_facts.setdefault(name, {})[key] = True
    entries = {}
    for name, kind in kinds.items():
        of_all = {
            key: value
            for key, value in table.get("facts_of_all", {}).items()
            if name not in exceptions.get(key, ())
        }
        fact = {**of_all, **shared_facts.get(name, {}), **facts.get(name, {})}
        fact["writes"] = tuple(fact.get("writes", ()))
        fact["parameters"] = tuple(fact.get("parameters", ()))
        fact["dtypes"] = tuple(fact.get("dtypes", ()))
        fact["arguments"] = tuple(fact.get("arguments", {}).items())
        fact["keywords"] = tuple(fact.get("keywords", {}).items())
        full = f"{prefix}.{name}"
        entries[full] = Rule(full, stem, kind, reason=reasons.get(name, fact.pop("reason", "")), **fact)
        for method, of_method in table.get("of_each", {}).items():
            of_owner = {key: fact[key] for key in ("since", "until") if key in fact}
            of_owner |= {**of_method, "writes": tuple(of_method.get("writes", ()))}
            entries[f"{full}.{method}"] = Rule(f"{full}.{method}", stem, kind, owner=full, **of_owner)
    return entries


@lru_cache(maxsize=1)
def rules() -> Mapping[str, Rule]:
    """Return every rule, by qualified NumPy name (`numpy.linalg.norm`, `numpy.ndarray.sort`)."""
    entries: dict[str, Rule] = {}
    for stem in chapters():
        entries.update(_chapter(stem))
    return entries


def find(qualified_name: str) -> Rule | None:
    """Return the rule of a qualified NumPy name, or None if there is no rule."""
    return rules().get(qualified_name)


def find_any(qualified_name: str) -> Rule | None:
    """Return the rule of a qualified NumPy name, also of a name that the translator does not rename."""
    return find(qualified_name) or kept_names().get(qualified_name)


@lru_cache(maxsize=1)
def kept_modules() -> frozenset[str]:
    """Return the modules of NumPy whose names the translator does not rename."""
    modules = {rule.name for rule in kept_names().values() if rule.reason}
    modules |= {name.rpartition(".")[0] for name in kept_names()}
    return frozenset(module for module in modules if not module.rpartition(".")[2][0].isupper())


def reason_to_stay(qualified_name: str) -> str:
    """Return why a name of a module that np2tf does not have stays on NumPy; "" if there is nothing to say:
    the name runs on TensorFlow by NumPy's protocols, or computes nothing.
    """
    own_rule = kept_names().get(qualified_name)
    if own_rule is not None and own_rule.kind == "native" and not own_rule.reason:
        return ""
    while qualified_name:
        rule = kept_names().get(qualified_name)
        if rule is not None and (rule.reason or rule.computes_nothing):
            return "" if rule.computes_nothing else rule.reason
        qualified_name = qualified_name.rpartition(".")[0]
    return ""


@lru_cache(maxsize=1)
def draws() -> frozenset[str]:
    """Return the names of the functions of `numpy.random` and of its generators' methods that draw."""
    methods = {**_chapter("modules/generator"), **_chapter("modules/random_state")}
    return frozenset(name.rpartition(".")[2] for name, rule in {**rules(), **methods}.items() if rule.draws)


def against_staging(qualified_name: str) -> str | None:
    """Return why a NumPy function cannot be called in staged code, as the rest of "it …"; None if it can."""
    rule = find_any(qualified_name)
    base, _, method = qualified_name.rpartition(".")
    if rule is None and method in ("outer", "reduce", "accumulate", "reduceat"):
        rule = find(base)
    if rule is None:
        return f"calls `{qualified_name}`, which np2tf does not know"
    if rule.random:
        return None if rule.draws else f"draws random numbers with `{qualified_name}`"
    if rule.kind == "no" or rule.acts:
        return f"calls `{qualified_name}`, which cannot run in a graph"
    if rule.kind == "host" and not rule.new_name:
        return f"calls `{qualified_name}`, which runs on NumPy"
    return None


@lru_cache(maxsize=1)
def kept_names() -> Mapping[str, Rule]:
    """Return the names that the op library has and the translator does not rename.

    These are the names of NumPy's further modules (`numpy.ma`), and the attributes of its classes
    (`numpy.random.Generator`).
    """
    entries: dict[str, Rule] = {}
    for path in sorted((rules_folder() / "modules").glob("*.toml")):
        entries.update(_chapter(f"modules/{path.stem}"))
    return entries


@lru_cache(maxsize=1)
def scipy() -> Mapping[str, Rule]:
    """Return the functions of SciPy that have a TensorFlow version, by qualified name
    (`scipy.linalg.solve`).
    """
    entries: dict[str, Rule] = {}
    for path in sorted((rules_folder() / "scipy").glob("*.toml")):
        entries.update(_chapter(f"scipy/{path.stem}"))
    return entries


@lru_cache(maxsize=1)
def examples() -> Mapping[str, tuple[str, ...]]:
    """Return the example expressions of the rules, by qualified NumPy name. The translator does not need
    them.
    """
    entries: dict[str, tuple[str, ...]] = {}
    for stem in chapters():
        prefix = read_table(stem).get("prefix", "numpy")
        table: dict[str, list[str]] = tomllib.loads(_text(stem).partition(_EXAMPLES)[2])
        for name, expressions in table.items():
            full = f"{prefix}.{name}"
            if full not in rules():
                raise ValueError(f"rules/{stem}.toml has examples of a name that it does not list: {name}")
            entries[full] = tuple(expressions)
    return entries
