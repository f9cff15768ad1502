"""What a function remembers of the kinds of its calls."""

from __future__ import annotations

from typing import Any, cast

import pytest

from np2tf.staging.compile.specializations import SpecializationCaches
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.tiers import constants


@pytest.mark.parametrize(("with_code", "kept"), [(2, [0, 1, "new"]), (4, ["new"])])
def test_kinds_with_code_are_kept_when_there_are_too_many(
    with_code: int, kept: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program with ever new kinds of calls would else compile the same ones again and again."""
    monkeypatch.setattr(constants, "MOST_CACHES", 6)
    caches, call = SpecializationCaches(HostFunction(len)), cast("Any", None)
    known = [caches._known_cache(key, call, resumes=False) for key in range(6)]
    for cache in known[:with_code]:
        cache.functions["code"] = cast("Any", object())
    new = caches._known_cache("new", call, resumes=False)
    assert list(caches.caches) == kept
    assert caches.caches["new"] is new
    assert all(caches.caches[key] is known[key] for key in kept[:-1])
