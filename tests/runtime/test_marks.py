"""Marks at the inputs of a station: inputs go together in time, and nothing is taken twice."""

from __future__ import annotations

from penstock.runtime.marks import TOGETHER_ROWS, Mark, Marks
from penstock.scheduling.scheduler import Head


def mark(instant: int, sequence: int, rows: int = 10) -> Mark:
    return Mark(instant, Head(sequence / 10, sequence), rows, rows * 8)


def test_a_join_waits_until_both_inputs_have_a_mark() -> None:
    marks = Marks([0, 0])
    marks.put(0, mark(10, 0))
    assert marks.target(0) is None
    assert marks.head(0) is None
    marks.put(1, mark(7, 1))
    assert marks.target(0) == 7


def test_a_step_takes_away_the_marks_that_it_passes() -> None:
    reached = [0, 0]
    marks = Marks(reached)
    marks.put(0, mark(10, 0))
    marks.put(1, mark(7, 1))
    made = marks.passed(7).head
    assert reached == [7, 7]
    assert (made.sequence, made.arrival) == (1, 0.1)
    assert (len(marks), marks.rows, marks.nbytes) == (1, 10, 80)
    assert marks.target(7) is None


def test_a_block_of_a_join_came_when_the_later_one_of_its_inputs_did() -> None:
    marks = Marks([0, 0])
    marks.put(0, mark(5, 3))
    marks.put(1, mark(5, 8))
    assert marks.head(0) == (0.3, 3)
    assert marks.passed(5).head.sequence == 8


def test_small_blocks_are_taken_together_and_large_ones_are_not() -> None:
    marks = Marks([0])
    for number in range(1, 6):
        marks.put(0, mark(number, number, TOGETHER_ROWS // 3))
    assert marks.next_stop(0) == 3
    assert marks.passed(3) == ((0.1, 1), 3)
    assert marks.next_stop(3) == 5
    marks.passed(5)
    marks.put(0, mark(6, 6, 2 * TOGETHER_ROWS))
    marks.put(0, mark(7, 7))
    assert marks.next_stop(5) == 6


def test_a_join_takes_small_blocks_together_as_far_as_both_inputs_are_there() -> None:
    marks = Marks([0, 0])
    for instant in (2, 4, 6):
        marks.put(0, mark(instant, instant))
    for instant in (3, 5):
        marks.put(1, mark(instant, instant))
    assert marks.next_stop(0) == 5


def test_a_mark_that_tells_nothing_new_is_not_kept() -> None:
    marks = Marks([4])
    marks.put(0, mark(4, 1))
    marks.put(0, mark(6, 2))
    marks.put(0, mark(6, 3))
    assert len(marks) == 1


def test_marks_are_saved_and_put_back() -> None:
    marks = Marks([0, 0])
    marks.put(0, mark(3, 0))
    marks.put(0, mark(9, 2))
    again = Marks([0, 0])
    again.take_back(marks.tables())
    again.put(1, mark(4, 5))
    assert (len(again), again.nbytes, again.last_sequence) == (3, 240, 5)
    assert again.target(0) == 3


def test_forgotten_marks_are_where_their_inputs_have_got() -> None:
    reached = [0, 0]
    marks = Marks(reached)
    marks.put(0, mark(3, 0))
    marks.put(0, mark(9, 2))
    marks.forget()
    assert (reached, len(marks), marks.nbytes) == ([9, 0], 0, 0)


def test_of_a_join_the_input_with_most_blocks_counts_whatever_became_one_before() -> None:
    marks = Marks([0, 0])
    marks.put(0, mark(2, 0)._replace(blocks=4))
    marks.put(0, mark(4, 1))
    marks.put(1, mark(4, 2))
    assert marks.passed(4).blocks == 5
