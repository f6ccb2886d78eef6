"""`penstock bench`: how fast, how flat, how much memory; the last line is one JSON object."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Sized

    from penstock_bench.kernels import SectionOutcome

    Picture = Callable[[Sequence[SectionOutcome], Path], None]


class Measurable(Protocol):
    """A section of a benchmark."""

    @property
    def name(self) -> str:
        """The name, by which `--only` chooses it."""

    @property
    def items(self) -> Sized:
        """The things to measure, one after the other."""

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure all; `done` is called after each item."""


BENCHMARKS = {
    "ask": "questions about millions of retained rows, beside DuckDB; many readers; what it costs",
    "chain": "schedulers under bursts, in a model, on a lane and on Spark: queues and latency",
    "cluster": "more tasks, a standalone cluster with more workers, and a simulated large driver",
    "kernels": "the block operators of one lane on one core, compared with DuckDB and Polars",
    "multijoin": "joins of many windows: orders, tables, intervals, and four streams on Spark",
    "patterns": "strategies of expiration on packet traffic: the experiments of the thesis",
    "pipeline": "the pipeline on Spark, compared with Spark's own operators and its ceiling",
    "transactions": "reads of a window that slides, under four schedulers, in several threads",
}
"""Each benchmark and what it measures."""


def bench(
    name: Annotated[str, typer.Argument(help="The benchmark; without it they are listed.")] = "",
    rows: Annotated[int, typer.Option(min=1000, help="Input rows of a measurement.")] = 1_000_000,
    seconds: Annotated[
        float, typer.Option(min=0.0, help="CPU seconds to measure each operator for, about.")
    ] = 1.0,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this section, operator or query; may be given again."),
    ] = None,
    rows_per_batch: Annotated[
        list[int] | None,
        typer.Option(min=2, help="pipeline: rows of a micro-batch; may be given again."),
    ] = None,
    batches: Annotated[
        int, typer.Option(min=0, help="pipeline: micro-batches; without it, as time allows.")
    ] = 0,
    quick: Annotated[
        bool, typer.Option(help="All but kernels: fewer sizes, less often measured.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="All but kernels and pipeline: where the picture is written, a PNG."),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="chain: a CSV file whose last column has counts over time."),
    ] = None,
) -> None:
    """Run a benchmark; the last line printed is one JSON object."""
    from penstock.cli.checkouts import require_checkout
    from penstock.errors import require_known

    require_checkout("penstock_bench", "bench")
    if not name:
        for known, summary in BENCHMARKS.items():
            typer.echo(f"{known}  {summary}")
        return
    require_known(name, BENCHMARKS, "benchmark", "Benchmarks")
    wanted, picture = only or [], _picture(name, out)
    runs: dict[str, Callable[[], None]] = {
        "ask": lambda: _ask(quick, wanted),
        "chain": lambda: _chain(quick, wanted, picture, trace),
        "cluster": lambda: _cluster(quick, wanted),
        "kernels": lambda: _kernels(rows, seconds, wanted),
        "multijoin": lambda: _multijoin(quick, wanted, picture),
        "patterns": lambda: _patterns(quick, wanted, picture),
        "pipeline": lambda: _pipeline(tuple(rows_per_batch or ()), batches, quick, wanted),
        "transactions": lambda: _transactions(quick, wanted, picture),
    }
    runs[name]()


def _ask(quick: bool, only: list[str]) -> None:
    from penstock_bench.retained_questions import report

    report(1_000_000 if quick else 10_000_000, typer.echo, only)


def _kernels(rows: int, seconds: float, only: list[str]) -> None:
    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench.kernels import parts

    _report("kernels", parts(rows, seconds, only), {"rows": rows, "seconds": seconds})


def _pipeline(sizes: tuple[int, ...], batches: int, quick: bool, only: list[str]) -> None:
    import tempfile
    from dataclasses import replace

    from penstock_bench.pipeline import QUICK, PipelineEffort, sections

    effort = QUICK if quick else PipelineEffort()
    effort = replace(effort, sizes=sizes or effort.sizes, batches=batches)
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        _report("pipeline", sections(Path(folder), effort, only))


def _cluster(quick: bool, only: list[str]) -> None:
    import tempfile

    from penstock_bench.cluster import QUICK, ClusterEffort, sections

    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        _report("cluster", sections(Path(folder), QUICK if quick else ClusterEffort(), only))


def _patterns(quick: bool, only: list[str], out: Path) -> None:
    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench.patterns import experiments, traffic_figures
    from penstock_bench.patterns_plot import write_picture
    from penstock_bench.patterns_run import QUICK, STRATEGIES, StrategyEffort

    effort = QUICK if quick else StrategyEffort()
    facts = {
        "strategies": STRATEGIES,
        "batch_rows": effort.batch_rows,
        "rounds": effort.rounds,
        "traffic": traffic_figures(),
    }
    _report("patterns", experiments(effort, only), facts, write_picture, out)


def _multijoin(quick: bool, only: list[str], out: Path) -> None:
    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench import multijoin_run, multijoin_spark
    from penstock_bench.multijoin import sections
    from penstock_bench.multijoin_plot import write_picture

    effort = multijoin_run.QUICK if quick else multijoin_run.WayEffort()
    chosen = sections(effort, multijoin_spark.QUICK if quick else multijoin_spark.MEASURED, only)
    facts = {"rounds": effort.rounds, "scale": effort.scale}
    _report("multijoin", chosen, facts, write_picture, out)


def _chain(quick: bool, only: list[str], out: Path, trace: Path | None) -> None:
    from dataclasses import replace

    from penstock_bench.chain.experiments import LOAD, QUICK, ChainEffort
    from penstock_bench.chain.plot import write_picture
    from penstock_bench.chain.sections import sections

    effort = replace(QUICK if quick else ChainEffort(), trace=_counts(trace))
    chosen = sections(effort, only)
    facts = {
        "blocks": effort.blocks,
        "load": LOAD,
        "trace": None if trace is None else trace.name,
    }
    _report("chain", chosen, facts, partial(write_picture, chosen), out)


def _transactions(quick: bool, only: list[str], out: Path) -> None:
    from dataclasses import asdict

    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench.transactions.reads_plot import write_reads_picture
    from penstock_bench.transactions.sections import QUICK, TrafficEffort, sections

    effort = QUICK if quick else TrafficEffort()
    _report("transactions", sections(effort, only), asdict(effort), write_reads_picture, out)


def _report(
    name: str,
    chosen: Sequence[Measurable],
    facts: Mapping[str, object] | None = None,
    write_picture: Picture | None = None,
    out: Path | None = None,
) -> None:
    """Measure sections, draw their picture where there is one, and say all of it as JSON."""
    import json

    from penstock_bench.kernels import machine, versions

    outcomes = _measured(chosen)
    if write_picture is not None and out is not None:
        write_picture(outcomes, out)
        typer.echo(f"Picture: {out}")
    found = {"benchmark": name, "machine": machine(), "versions": versions(), **(facts or {})}
    typer.echo(json.dumps(found | {one.name: one.figures for one in outcomes}))


def _counts(trace: Path | None) -> tuple[float, ...] | None:
    """The counts of a file.

    Raises:
        DataError: It cannot be read, or holds something else.
    """
    from penstock.errors import DataError
    from penstock_bench.chain.traffic import read_trace

    if trace is None:
        return None
    try:
        return tuple(map(float, read_trace(trace)))
    except (OSError, ValueError, IndexError) as error:
        msg = f"{trace} is no trace: {error}"
        hint = "Give a CSV file with a header, and counts of equal times in its last column."
        raise DataError(msg, hint=hint) from error


def _picture(name: str, out: Path | None) -> Path:
    """The file for the picture of a benchmark, known to be writable before it runs."""
    from penstock.errors import DataError

    path = out or Path(f"{name}.png")
    if not path.parent.is_dir():
        msg = f"there is no folder {path.parent} for the picture"
        raise DataError(msg, hint="Make it first, or name another place with --out.")
    return path


def _measured(chosen: Sequence[Measurable]) -> list[SectionOutcome]:
    """Measure the sections, showing how far it is, and each table as soon as it is complete."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    # Where nobody watches, tables are as wide as they need to be.
    console = Console() if sys.stdout.isatty() else Console(width=180)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    outcomes = []
    with Progress(*columns, console=console, transient=True) as bar:
        tasks = [bar.add_task(part.name, total=len(part.items)) for part in chosen]
        for part, task in zip(chosen, tasks, strict=True):
            outcome = part.measure(partial(bar.advance, task))
            console.print(outcome.table)
            outcomes.append(outcome)
    return outcomes
