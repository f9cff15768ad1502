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
