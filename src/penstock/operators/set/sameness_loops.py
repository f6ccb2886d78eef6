"""The loop that compares the values of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Values


@compiled
def tell_apart(
    values: Values,
    valid: Flags,
    firsts: Values,
    first_valid: Flags,
    is_first: Flags,
    same: Flags,
) -> None:
    """Take away from `same` the values that are distinct from the one before them.

    The first of each group is compared with the next of `firsts`. No flags: no value is NULL. NULL
    is like NULL, and NaN like NaN.
    """
    group = 0
    for place in range(len(values)):
        now = valid.size == 0 or valid[place]
        if is_first[place]:
            known = first_valid.size == 0 or first_valid[group]
            before = firsts[group]
            group += 1
        else:
            known = valid.size == 0 or valid[place - 1]
            before = values[place - 1]
        value = values[place]
        is_like = value == before or (value != value and before != before)
        if now != known or (now and not is_like):
            same[place] = False
