"""Cells and regions: who writes to what, what is undone, and what becomes unknown."""

from __future__ import annotations

import pytest
import tensorflow as tf

from np2tf.runtime.tracing.trace import Trace
from np2tf.staging import StagingError
from np2tf.tnp._tensor.storage import Cell, aliases, current_region, is_outside, link_aliases, region

ONE, TWO, THREE = (tf.constant([float(n)] * 2) for n in (1, 2, 3))


@pytest.fixture
def trace() -> Trace:
    return Trace(xla=False)


def test_a_write_is_noted_up_to_where_the_cell_was_born(trace: Trace):
    old = Cell(ONE)
    with region(trace) as outer:
        middle = Cell(ONE)
        with region(trace) as inner:
            new = Cell(ONE)
            for cell in (old, middle, new):
                cell.write(TWO)
        assert list(inner.written) == [old, middle]
        assert list(outer.written) == [old]
        assert current_region() is outer
    assert current_region() is None


def test_undo_gives_the_value_on_entering(trace: Trace):
    cell = Cell(ONE)
    with region(trace) as entered:
        cell.write(TWO)
        cell.write(THREE)
        entered.undo()
    assert cell.value is ONE


def test_rebase_is_no_write(trace: Trace):
    cell = Cell(ONE)
    with region(trace) as entered:
        cell.rebase(TWO)
    assert not entered.written
    assert cell.value is TWO


def test_the_stack_survives_an_exception(trace: Trace):
    with pytest.raises(KeyError), region(trace):
        raise KeyError
    assert current_region() is None


def test_writing_a_merged_cell_hides_its_sources(trace: Trace):
    first, second, merged = Cell(ONE), Cell(ONE), Cell(ONE)
    link_aliases(merged, [first, second])
    merged.write(TWO)
    assert merged.value is TWO
    for cell in (first, second):
        with pytest.raises(StagingError):
            cell.value


def test_writing_a_source_hides_the_merged_cell(trace: Trace):
    first, second, merged = Cell(ONE), Cell(ONE), Cell(ONE)
    link_aliases(merged, [first, second])
    first.write(TWO)
    with pytest.raises(StagingError):
        merged.value


def test_two_merged_cells_of_one_source_may_be_the_same():
    source, one, other = Cell(ONE), Cell(ONE), Cell(ONE)
    link_aliases(one, [source])
    link_aliases(other, [source])
    assert set(aliases(one)) == {source, other}
    one.write(TWO)
    with pytest.raises(StagingError):
        other.value


def test_cells_with_one_mark_are_different_memory():
    source, one, other = Cell(ONE), Cell(ONE), Cell(ONE)
    link_aliases(one, [source])
    link_aliases(other, [source])
    one.distinct = other.distinct = object()
    one.write(TWO)
    assert other.value is ONE
    with pytest.raises(StagingError):
        source.value


@pytest.mark.parametrize(("number", "written"), [(0, (2, 1)), (1, (1, 2)), (-1, (1, 1))])
def test_a_write_goes_through_to_the_argument_that_it_is(number: int, written: tuple[int, int]):
    arguments = Cell(ONE), Cell(ONE)
    for cell in arguments:
        cell.argument = True
    merged = Cell(ONE)
    link_aliases(merged, arguments)
    merged.identity = tf.constant(number), arguments
    merged.write(TWO)
    assert tuple(cell.value.numpy()[0] for cell in arguments) == written


def test_poison_is_undone_with_the_region(trace: Trace):
    source, merged = Cell(ONE), Cell(ONE)
    link_aliases(merged, [source])
    with region(trace) as entered:
        merged.write(TWO)
        assert source in entered.poisoned
        entered.undo()
    assert source.value is ONE
    assert merged.value is ONE


def test_outside(trace: Trace):
    old = Cell(ONE)
    with region(trace):
        middle = Cell(ONE)
        assert is_outside(old)
        assert not is_outside(middle)
        with region(trace):
            inner = Cell(ONE)
            assert is_outside(middle)
        assert not is_outside(inner)
