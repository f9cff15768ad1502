"""Find the np2tf function that replaces an object of SciPy, without importing SciPy or TensorFlow."""

from __future__ import annotations

import operator
import sys
from typing import Any

from np2tf import rules

#: The name of a module of SciPy's -> the names in it that have a TensorFlow version.
_chapters: dict[str, tuple[str, ...]] = {}
#: SciPy's object -> its qualified name; filled, module by module, when the program has imported the module.
_names: dict[Any, str] = {}
_loaded_prefixes: set[str] = set()


def native(scipy_object: Any) -> str | None:
    """Return the qualified name of a function of SciPy that has a TensorFlow version, else None.

    Methods of SciPy's own objects (`scipy.stats.norm.pdf`) are found too. Methods of a distribution that
    the program has frozen (`scipy.stats.norm(1, 2).pdf`) are not.

    Args:
        scipy_object: any object.
    """
    if "scipy" not in sys.modules:
        return None
    _look()
    try:
        return _names.get(scipy_object)
    except TypeError:  # the object cannot be hashed
        return None


def implementation(qualified_name: str) -> Any:
    """Return the function that runs SciPy's own on host operands and np2tf's implementation on tensors.

    Args:
        qualified_name: the name of SciPy's function, such as "scipy.special.erf".

    Raises:
        KeyError: np2tf has no TensorFlow version of this function.
    """
    from np2tf.scipy.front import implementation as make

    return make(qualified_name)


def _look() -> None:
    """Register the functions of SciPy's modules that the program has imported since the last call."""
    if not _chapters:
        groups: dict[str, list[str]] = {}
        for name, rule in rules.scipy().items():
            prefix = rules.read_table(rule.chapter)["prefix"] if rule.chapter not in groups else ""
            groups.setdefault(rule.chapter, [prefix]).append(name)
        _chapters.update({prefix: tuple(names) for prefix, *names in groups.values()})
    for prefix, names in _chapters.items():
        module = sys.modules.get(prefix)
        if module is None or prefix in _loaded_prefixes:
            continue
        try:
            pairs = [(_resolve(module, name.removeprefix(f"{prefix}.")), name) for name in names]
        except AttributeError:  # its import has only begun
            continue
        _names.update({value: name for value, name in pairs if value is not None})
        _loaded_prefixes.add(prefix)


def _resolve(module: Any, name: str) -> Any:
    """Return the object of a dotted name in `module`; None if the installed SciPy lacks it.

    Raises:
        AttributeError: the module is still being imported.
    """
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            raise
        return None
