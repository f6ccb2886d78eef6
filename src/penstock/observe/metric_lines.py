"""Metrics and their samples as lines of the text format that Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeVar

from penstock.observe.status import BOUNDS

if TYPE_CHECKING:
    from penstock.observe.status import Durations

Labels = dict[str, str | int]
Samples = list[tuple[Labels, float | int | None]]
"""Labels and a value each; None is a value that is not known, and is left out."""


@dataclass(frozen=True)
class Metric:
    """A metric and its samples; the name of a counter ends with `_total`."""

    name: str
    meaning: str
    samples: Samples

    @property
    def type(self) -> Literal["counter", "gauge"]:
        """A counter, which only grows until a restart, or a gauge."""
        return "counter" if self.name.endswith("_total") else "gauge"

    def lines(self) -> Iterator[str]:
        """The lines of its meaning, its type, and its values; nothing if there are none."""
        known = [(labels, value) for labels, value in self.samples if value is not None]
        if not known:
            return
        name = f"penstock_{self.name}"
        yield f"# HELP {name} {_escaped(self.meaning)}"
        yield f"# TYPE {name} {self.type}"
        for labels, value in known:
            yield f"{name}{_braced(labels)} {_number(value)}"


Fact = TypeVar("Fact")
Described = tuple[str, str, Callable[[Fact], float | int | None]]
"""The name of a metric, its meaning, and its value of each of some facts that are alike."""


def metrics_of(
    facts: Sequence[tuple[Labels, Fact]], described: Iterable[Described[Fact]]
) -> Iterator[Metric]:
    """A metric for each that is described, with a sample for each fact."""
    for name, meaning, value in described:
        yield Metric(name, meaning, [(labels, value(one)) for labels, one in facts])


@dataclass(frozen=True)
class Histogram:
    """The number of times a value was at most as large as each of some bounds."""

    name: str
    meaning: str
    durations: Durations

    def lines(self) -> Iterator[str]:
        """The counts, each with those before it, and the sum."""
        name = f"penstock_{self.name}"
        yield f"# HELP {name} {_escaped(self.meaning)}"
        yield f"# TYPE {name} histogram"
        counts = list(accumulate(self.durations.counts))
        for bound, count in zip((*map(_number, BOUNDS), "+Inf"), counts, strict=True):
            yield f'{name}_bucket{{le="{bound}"}} {count}'
        yield f"{name}_sum {_number(self.durations.seconds)}"
        yield f"{name}_count {counts[-1]}"


def _number(value: float) -> str:
    """A value as Prometheus reads it; times keep their milliseconds, and no 1e+09.

    >>> _number(True), _number(12), _number(1700000000.5), _number(0.00000123)
    ('1', '12', '1700000000.5', '0.000001')
    """
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(int(value))


def _braced(labels: Labels) -> str:
    pairs = [f'{name}="{_escaped(str(value), quoted=True)}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(text: str, *, quoted: bool = False) -> str:
    r"""A text on one line, as the format wants it.

    >>> print(_escaped('a "b"\nc\\d', quoted=True))
    a \"b\"\nc\\d
    """
    text = text.replace("\\", r"\\").replace("\n", r"\n")
    return text.replace('"', r"\"") if quoted else text
