"""From an object of SciPy to the function that stands for it, without importing SciPy or TensorFlow."""

from __future__ import annotations

import operator
import sys
from typing import Any

from np2tf import rules

#: The name of a module of SciPy's -> the names in it that have a TensorFlow version.
_chapters: dict[str, tuple[str, ...]] = {}
#: SciPy's object -> its qualified name; filled, module by module, when the program has imported the module.
_names: dict[Any, str] = {}
_seen: set[str] = set()


def native(scipy_object: Any) -> str | None:
    """The qualified name of a function of SciPy, if it has a TensorFlow version (`scipy.special.erf`).

    A method of one of SciPy's objects (`scipy.stats.norm.pdf`) is found too; one of a distribution that the
    program has frozen (`scipy.stats.norm(1, 2).pdf`) is not.
    """
    if "scipy" not in sys.modules:
        return None
    _look()
    try:
        return _names.get(scipy_object)
    except TypeError:  # it cannot be hashed
        return None


def implementation(qualified: str) -> Any:
    """The function that stands for SciPy's: SciPy's own on host operands, TensorFlow on all others.

    Raises:
        KeyError: there is none of this name.
    """
    from np2tf.scipy.front import implementation as make

    return make(qualified)


def _look() -> None:
    """Note the objects of those modules that have been imported since the last time."""
    if not _chapters:
        grouped: dict[str, list[str]] = {}
        for name, rule in rules.scipy().items():
            prefix = rules.read_table(rule.chapter)["prefix"] if rule.chapter not in grouped else ""
            grouped.setdefault(rule.chapter, [prefix]).append(name)
        _chapters.update({prefix: tuple(names) for prefix, *names in grouped.values()})
    for prefix, names in _chapters.items():
        module = sys.modules.get(prefix)
        if module is None or prefix in _seen:
            continue
        try:
            found = [(_within(module, name.removeprefix(f"{prefix}.")), name) for name in names]
        except AttributeError:  # its import has only begun
            continue
        _names.update({value: name for value, name in found if value is not None})
        _seen.add(prefix)


def _within(module: Any, name: str) -> Any:
    """What `module` has by this name; None for what the installed SciPy lacks.

    Raises:
        AttributeError: the module is still being imported.
    """
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            raise
        return None
