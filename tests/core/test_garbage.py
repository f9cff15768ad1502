"""The garbage collector pauses within the block, and runs afterwards if it ran before."""

from __future__ import annotations

import gc

import pytest

from np2tf.core.late import not_collecting


@pytest.mark.parametrize("was_enabled", [True, False])
def test_the_state_is_restored(was_enabled: bool) -> None:
    def fail_within() -> None:
        with not_collecting():
            with not_collecting():
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise KeyError

    (gc.enable if was_enabled else gc.disable)()
    try:
        with pytest.raises(KeyError):
            fail_within()
        assert gc.isenabled() == was_enabled
    finally:
        gc.enable()


def test_objects_that_stay_are_old() -> None:
    """The next collection of young objects does not walk them, and none of them is lost to the collector."""
    with not_collecting(objects_stay=True):
        made = [[number] for number in range(5000)]
    assert gc.get_count()[0] < len(made)
    assert gc.get_freeze_count() == 0
    oldest = gc.get_objects(generation=2)
    assert any(each is made for each in oldest)
