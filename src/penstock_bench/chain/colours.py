"""The colour of each scheduler in pictures."""

from __future__ import annotations

from penstock.scheduling.scheduler_list import SCHEDULERS

PALETTE = ("blue", "orange", "green", "red", "brown", "purple", "pink", "olive", "cyan", "gray")
COLOURS = {
    **{one.name: f"tab:{colour}" for one, colour in zip(SCHEDULERS, PALETTE, strict=False)},
    "exact": "black",
}
