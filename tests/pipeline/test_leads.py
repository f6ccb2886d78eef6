"""Rows that wait in lanes until another stream has come as far are counted, by the stream."""

from __future__ import annotations

import random

from penstock.pipeline.leads import Lead, Leads
from penstock.store.records import StreamProgress


def test_rows_wait_for_the_least_watermark_of_those_read_with_them() -> None:
    leads = Leads()
    leads.note({"a": StreamProgress(), "b": StreamProgress(), "c": StreamProgress()})
    leads.note(
        {
            "a": StreamProgress(watermark=90, latest=100, rows=7),
            "b": StreamProgress(watermark=10, latest=20, rows=2),
            "c": StreamProgress(watermark=50, latest=60, rows=5),
        }
    )
    assert leads.ahead([["a", "b"], ["c"]]) == {"a": Lead(7, "b")}
    # What is read with nobody else does not wait, and is not counted later either.
    assert leads.ahead([["a", "b"], ["c", "b"]]) == {"a": Lead(7, "b")}
    leads.note(
        {
            "a": StreamProgress(watermark=190, latest=200, rows=17),
            "b": StreamProgress(watermark=120, latest=130, rows=3),
            "c": StreamProgress(watermark=50, latest=60, rows=5),
        }
    )
    assert leads.ahead([["a", "b"], ["b", "c"]]) == {"a": Lead(10, "b"), "b": Lead(1, "c")}
    assert leads.ahead([["a"], ["b"], ["c"]]) == {}


def test_rows_that_wait_for_their_own_watermark_are_no_lead() -> None:
    """Streams that come at one pace, and may be late by much, hold each other up by nothing."""
    leads = Leads()
    for now in range(0, 1000, 10):
        leads.note(
            {
                name: StreamProgress(watermark=now - 500, latest=now, rows=1 + now)
                for name in ("a", "b")
            }
        )
        assert leads.ahead([["a", "b"]]) == {}


def test_counts_are_those_of_all_commits() -> None:
    """Against a sum over all that ever came; a stream never goes back."""
    for seed in range(50):
        draw = random.Random(seed)
        leads, came = Leads(), list[tuple[str, int, int]]()
        now = {name: StreamProgress() for name in "ab"}
        leads.note(now)
        for _ in range(30):
            for name in "ab":
                latest = max(0, now[name].latest) + draw.randint(0, 9)
                rows = now[name].rows + draw.randint(0, 3)
                if rows > now[name].rows:
                    came.append((name, latest - 5, rows - now[name].rows))
                    now[name] = StreamProgress(watermark=latest - 5, latest=latest, rows=rows)
            leads.note(now)
            marks = {name: one.watermark for name, one in now.items()}
            last = min("ab", key=marks.__getitem__)
            wanted = sum(rows for name, at, rows in came if name != last and at > marks[last])
            (first,) = {"a", "b"} - {last}
            found = leads.ahead([["a", "b"]])
            assert found.get(first, Lead(0, last)) == Lead(wanted, last)
