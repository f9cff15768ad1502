"""Names for the helpers and flags that lowering adds: short, descriptive, and different from the user's
names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: purpose of a name -> the names to try, best first; if all are taken, numbered names follow.
_CHOICES = {
    "keep_going": ("keep_going", "go_on"),
    "step": ("step", "one_step"),
    "then": ("then", "if_so"),
    "otherwise": ("otherwise", "if_not"),
    "outer_then": ("if_so", "outer_then"),
    "outer_otherwise": ("if_not", "outer_otherwise"),
    "done": ("done", "finished"),
    "inner_done": ("inner_done", "inner_finished"),
    "skipped": ("skipped", "skip_rest"),
    "returned": ("returned", "has_result"),
    "result": ("result", "answer"),
    "item": ("item", "element"),
}


class Naming:
    """The names added to one function. Each purpose keeps its name, because each helper is defined just above
    its use.
    """

    def __init__(self, used_names: Collection[str]) -> None:
        self._used_names = set(used_names)
        self._name_of_purpose: dict[str, str] = {}

    def name(self, purpose: str) -> str:
        """Return the name for `purpose`, which stays the same within the function."""
        if purpose not in self._name_of_purpose:
            self._name_of_purpose[purpose] = self._fresh(purpose)
        return self._name_of_purpose[purpose]

    def _fresh(self, purpose: str) -> str:
        for choice in _CHOICES.get(purpose, (purpose,)):
            if choice not in self._used_names:
                break
        else:
            number = 2
            while f"{purpose}_{number}" in self._used_names:
                number += 1
            choice = f"{purpose}_{number}"
        self._used_names.add(choice)
        return choice

    def around(self, purposes: Sequence[str], inside: Collection[str]) -> list[str]:
        """Return names for helpers that contain helpers named `inside`, different from these names."""
        while not set(names := [self.name(purpose) for purpose in purposes]).isdisjoint(inside):
            purposes = [f"outer_{purpose}" for purpose in purposes]
        return names

    def is_taken(self, name: str) -> bool:
        """Return whether the function already uses the name."""
        return name in self._used_names

    def given_names(self) -> frozenset[str]:
        """Return the names given so far."""
        return frozenset(self._name_of_purpose.values())

    def flag(self, depth: int) -> str:
        """Return the name of the flag that ends a loop `depth` lowered loops deep."""
        return self.name(("done", "inner_done")[depth] if depth < 2 else f"done_{depth + 1}")
