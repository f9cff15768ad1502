"""Storages and scopes: who writes to what, what is undone, and what becomes unknown."""

from __future__ import annotations

import pytest
import tensorflow as tf

from np2tf.arrays.tensors.storage import (
    Storage,
    aliases,
    current_scope,
    is_outside,
    link_aliases,
    staging_scope,
)
from np2tf.core.errors import StagingError
from np2tf.staging.trace.trace import Trace

ONE, TWO, THREE = (tf.constant([float(n)] * 2) for n in (1, 2, 3))


@pytest.fixture
def trace() -> Trace:
    return Trace(xla=False)


def test_a_write_is_noted_up_to_where_the_storage_was_born(trace: Trace):
    old = Storage(ONE)
    with staging_scope(trace) as outer:
        middle = Storage(ONE)
        with staging_scope(trace) as inner:
            new = Storage(ONE)
            for storage in (old, middle, new):
                storage.write(TWO)
        assert list(inner.writes) == [old, middle]
        assert list(outer.writes) == [old]
        assert current_scope() is outer
    assert current_scope() is None


def test_undo_gives_the_value_on_entering(trace: Trace):
    storage = Storage(ONE)
    with staging_scope(trace) as scope:
        storage.write(TWO)
        storage.write(THREE)
        scope.undo()
    assert storage.value is ONE


def test_rebase_is_no_write(trace: Trace):
    storage = Storage(ONE)
    with staging_scope(trace) as scope:
        storage.rebase(TWO)
    assert not scope.writes
    assert storage.value is TWO


def test_the_stack_survives_an_exception(trace: Trace):
    with pytest.raises(KeyError), staging_scope(trace):
        raise KeyError
    assert current_scope() is None


def test_writing_a_merged_storage_hides_its_sources(trace: Trace):
    first, second, merged = Storage(ONE), Storage(ONE), Storage(ONE)
    link_aliases(merged, [first, second])
    merged.write(TWO)
    assert merged.value is TWO
    for storage in (first, second):
        with pytest.raises(StagingError):
            storage.value


def test_writing_a_source_hides_the_merged_storage(trace: Trace):
    first, second, merged = Storage(ONE), Storage(ONE), Storage(ONE)
    link_aliases(merged, [first, second])
    first.write(TWO)
    with pytest.raises(StagingError):
        merged.value


def test_two_merged_storages_of_one_source_may_be_the_same():
    source, first, second = Storage(ONE), Storage(ONE), Storage(ONE)
    link_aliases(first, [source])
    link_aliases(second, [source])
    assert set(aliases(first)) == {source, second}
    first.write(TWO)
    with pytest.raises(StagingError):
        second.value


def test_storages_with_one_mark_are_different_memory():
    source, first, second = Storage(ONE), Storage(ONE), Storage(ONE)
    link_aliases(first, [source])
    link_aliases(second, [source])
    first.distinct = second.distinct = object()
    first.write(TWO)
    assert second.value is ONE
    with pytest.raises(StagingError):
        source.value


@pytest.mark.parametrize(("number", "written"), [(0, (2, 1)), (1, (1, 2)), (-1, (1, 1))])
def test_a_write_goes_through_to_the_argument_that_it_is(number: int, written: tuple[int, int]):
    arguments = Storage(ONE), Storage(ONE)
    for storage in arguments:
        storage.argument = True
    merged = Storage(ONE)
    link_aliases(merged, arguments)
    merged.identity = tf.constant(number), arguments
    merged.write(TWO)
    assert tuple(storage.value.numpy()[0] for storage in arguments) == written


def test_poison_is_undone_with_the_scope(trace: Trace):
    source, merged = Storage(ONE), Storage(ONE)
    link_aliases(merged, [source])
    with staging_scope(trace) as scope:
        merged.write(TWO)
        assert source in scope.poisoned_storages
        scope.undo()
    assert source.value is ONE
    assert merged.value is ONE


def test_outside(trace: Trace):
    old = Storage(ONE)
    with staging_scope(trace):
        middle = Storage(ONE)
        assert is_outside(old)
        assert not is_outside(middle)
        with staging_scope(trace):
            inner = Storage(ONE)
            assert is_outside(middle)
        assert not is_outside(inner)
