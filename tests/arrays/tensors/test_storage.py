"""Storages and scopes: who writes to what, what is undone, and what becomes unknown."""

from __future__ import annotations

from functools import cache

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


@cache
def of(number: int) -> tf.Tensor:
    """A tensor that has the number twice."""
    return tf.constant([float(number)] * 2)


@pytest.fixture
def trace() -> Trace:
    return Trace(xla=False)


def test_a_write_is_noted_up_to_where_the_storage_was_born(trace: Trace):
    old = Storage(of(1))
    with staging_scope(trace) as outer:
        middle = Storage(of(1))
        with staging_scope(trace) as inner:
            new = Storage(of(1))
            for storage in (old, middle, new):
                storage.write(of(2))
        assert list(inner.writes) == [old, middle]
        assert list(outer.writes) == [old]
        assert current_scope() is outer
    assert current_scope() is None


def test_undo_gives_the_value_on_entering(trace: Trace):
    storage = Storage(of(1))
    with staging_scope(trace) as scope:
        storage.write(of(2))
        storage.write(of(3))
        scope.undo()
    assert storage.value is of(1)


def test_rebase_is_no_write(trace: Trace):
    storage = Storage(of(1))
    with staging_scope(trace) as scope:
        storage.rebase(of(2))
    assert not scope.writes
    assert storage.value is of(2)


def test_the_stack_survives_an_exception(trace: Trace):
    with pytest.raises(KeyError), staging_scope(trace):
        raise KeyError
    assert current_scope() is None


def test_writing_a_merged_storage_hides_its_sources(trace: Trace):
    first, second, merged = Storage(of(1)), Storage(of(1)), Storage(of(1))
    link_aliases(merged, [first, second])
    merged.write(of(2))
    assert merged.value is of(2)
    for storage in (first, second):
        with pytest.raises(StagingError):
            storage.value


def test_writing_a_source_hides_the_merged_storage(trace: Trace):
    first, second, merged = Storage(of(1)), Storage(of(1)), Storage(of(1))
    link_aliases(merged, [first, second])
    first.write(of(2))
    with pytest.raises(StagingError):
        merged.value


def test_two_merged_storages_of_one_source_may_be_the_same():
    source, first, second = Storage(of(1)), Storage(of(1)), Storage(of(1))
    link_aliases(first, [source])
    link_aliases(second, [source])
    assert set(aliases(first)) == {source, second}
    first.write(of(2))
    with pytest.raises(StagingError):
        second.value


def test_storages_with_one_mark_are_different_memory():
    source, first, second = Storage(of(1)), Storage(of(1)), Storage(of(1))
    link_aliases(first, [source])
    link_aliases(second, [source])
    first.distinct = second.distinct = object()
    first.write(of(2))
    assert second.value is of(1)
    with pytest.raises(StagingError):
        source.value


@pytest.mark.parametrize(("number", "written"), [(0, (2, 1)), (1, (1, 2)), (-1, (1, 1))])
def test_a_write_goes_through_to_the_argument_that_it_is(number: int, written: tuple[int, int]):
    arguments = Storage(of(1)), Storage(of(1))
    for storage in arguments:
        storage.argument = True
    merged = Storage(of(1))
    link_aliases(merged, arguments)
    merged.identity = tf.constant(number), arguments
    merged.write(of(2))
    assert tuple(storage.value.numpy()[0] for storage in arguments) == written


def test_poison_is_undone_with_the_scope(trace: Trace):
    source, merged = Storage(of(1)), Storage(of(1))
    link_aliases(merged, [source])
    with staging_scope(trace) as scope:
        merged.write(of(2))
        assert source in scope.poisoned_storages
        scope.undo()
    assert source.value is of(1)
    assert merged.value is of(1)


def test_outside(trace: Trace):
    old = Storage(of(1))
    with staging_scope(trace):
        middle = Storage(of(1))
        assert is_outside(old)
        assert not is_outside(middle)
        with staging_scope(trace):
            inner = Storage(of(1))
            assert is_outside(middle)
        assert not is_outside(inner)
