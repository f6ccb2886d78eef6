"""Which rows are late, and what the clock is: the definition of the fuzzing against examples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.reference.inputs import RelationChange
from penstock_fuzz.trial import (
    FileProgram,
    RelationInput,
    StreamInput,
    Trial,
    clocks,
    is_feedable,
    late_rows,
)


def trial(times: list[int], feeds: list[int], slack: int, **relations: RelationInput) -> Trial:
    rows = tuple((at,) for at in times)
    stream = StreamInput(rows, tuple(feeds), slack)
    return Trial(FileProgram("", ""), {"s": stream}, relations, feed_count=max([0, *feeds]) + 1)


def test_a_row_below_the_watermark_of_the_feeds_before_is_late() -> None:
    found = late_rows(trial([10, 3, 7, 8, 20, 9], [0, 0, 1, 1, 2, 2], slack=2))
    # 3 came with the 10 that would have made it late; 7 < 10 - 2; 9 is above 10 - 2.
    assert found == {("s", 2)}


def test_streams_have_watermarks_of_their_own() -> None:
    both = Trial(
        FileProgram("", ""),
        {"a": StreamInput(((10,), (9,)), (0, 1), 0), "b": StreamInput(((5,), (6,)), (0, 1), 0)},
        {},
        feed_count=2,
    )
    assert late_rows(both) == {("a", 1)}
    assert clocks(both) == [5, 6]


@given(st.lists(st.integers(-20, 20), max_size=12), st.integers(0, 5), st.data())
def test_a_row_within_the_slack_is_never_late(
    times: list[int], slack: int, data: st.DataObject
) -> None:
    feeds = sorted(data.draw(st.integers(0, 4)) for _ in times)
    late = late_rows(trial(times, feeds, slack))
    for i, at in enumerate(times):
        if at >= max(times[: i + 1]) - slack or feeds[i] == 0:
            assert ("s", i) not in late


@given(st.lists(st.integers(-20, 20), max_size=12), st.integers(0, 5))
def test_row_by_row_the_late_rows_are_those_below_the_running_maximum(
    times: list[int], slack: int
) -> None:
    late = late_rows(trial(times, list(range(len(times))), slack))
    expected = {("s", i) for i in range(1, len(times)) if times[i] < max(times[:i]) - slack}
    assert late == expected


def test_a_change_must_come_before_the_clock_has_passed_it() -> None:
    def change(at: int, feed: int) -> RelationInput:
        return RelationInput((), (RelationChange(at, "+", (1,)),), (feed,))

    assert is_feedable(trial([10, 20], [0, 1], 0, r=change(10, 1)))
    assert not is_feedable(trial([10, 20], [0, 1], 0, r=change(9, 1)))
    assert is_feedable(trial([10, 20], [0, 1], 0, r=change(9, 0)))
