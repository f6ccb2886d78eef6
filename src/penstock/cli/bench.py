"""`penstock bench`: how fast, how flat, how much memory; the last line is one JSON object."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_bench.chain.sections import ChainSection
    from penstock_bench.cluster import ClusterSection
    from penstock_bench.kernels import KernelSection, SectionOutcome
    from penstock_bench.multijoin_orders import Orders
    from penstock_bench.multijoin_sections import Series
    from penstock_bench.multijoin_spark import OnSpark
    from penstock_bench.patterns import BatchSizes, Experiment
    from penstock_bench.pipeline import Section
    from penstock_bench.transactions.orders_of_reads import OrdersOfReads
    from penstock_bench.transactions.sections import SchedulersOfReads

    Measurable = (
        ChainSection
        | ClusterSection
        | KernelSection[Any]
        | Section
        | Experiment
        | BatchSizes
        | Orders
        | Series
        | OnSpark
        | OrdersOfReads
        | SchedulersOfReads
    )

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
    if name == "ask":
        from penstock_bench.retained_questions import report

        report(1_000_000 if quick else 10_000_000, typer.echo, only or [])
    elif name == "pipeline":
        _pipeline(tuple(rows_per_batch or ()), batches, quick, only or [])
    elif name == "cluster":
        _cluster(quick, only or [])
    elif name == "patterns":
        _patterns(quick, only or [], _picture(name, out))
    elif name == "chain":
        _chain(quick, only or [], _picture(name, out), trace)
    elif name == "multijoin":
        _multijoin(quick, only or [], _picture(name, out))
    elif name == "transactions":
        _transactions(quick, only or [], _picture(name, out))
    else:
        _kernels(rows, seconds, only or [])


def _kernels(rows: int, seconds: float, only: list[str]) -> None:
    import json

    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench.kernels import machine, parts, versions

    chosen = parts(rows, seconds, only)
    found: dict[str, object] = {
        "benchmark": "kernels",
        "rows": rows,
        "seconds": seconds,
        "machine": machine(),
        "versions": versions(),
    }
    for outcome in _measured(chosen):
        found[outcome.name] = outcome.figures
    typer.echo(json.dumps(found))


def _pipeline(sizes: tuple[int, ...], batches: int, quick: bool, only: list[str]) -> None:
    import json
    import tempfile
    from dataclasses import replace

    from penstock_bench.kernels import machine, versions
    from penstock_bench.pipeline import QUICK, PipelineEffort, sections

    effort = QUICK if quick else PipelineEffort()
    effort = replace(effort, sizes=sizes or effort.sizes, batches=batches)
    found: dict[str, object] = {
        "benchmark": "pipeline",
        "machine": machine(),
        "versions": versions(),
    }
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        for outcome in _measured(sections(Path(folder), effort, only)):
            found[outcome.name] = outcome.figures
    typer.echo(json.dumps(found))


def _cluster(quick: bool, only: list[str]) -> None:
    import json
    import tempfile

    from penstock_bench.cluster import QUICK, ClusterEffort, sections
    from penstock_bench.kernels import machine, versions

    effort = QUICK if quick else ClusterEffort()
    found: dict[str, object] = {
        "benchmark": "cluster",
        "machine": machine(),
        "versions": versions(),
    }
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        for outcome in _measured(sections(Path(folder), effort, only)):
            found[outcome.name] = outcome.figures
    typer.echo(json.dumps(found))


def _patterns(quick: bool, only: list[str], out: Path) -> None:
    import json

    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench.kernels import machine, versions
    from penstock_bench.patterns import experiments, traffic_figures
    from penstock_bench.patterns_plot import write_picture
    from penstock_bench.patterns_run import QUICK, STRATEGIES, StrategyEffort

    effort = QUICK if quick else StrategyEffort()
    chosen = experiments(effort, only)
    found: dict[str, object] = {
        "benchmark": "patterns",
        "machine": machine(),
        "versions": versions(),
        "strategies": STRATEGIES,
        "batch_rows": effort.batch_rows,
        "rounds": effort.rounds,
        "traffic": traffic_figures(),
    }
    outcomes = _measured(chosen)
    found |= {outcome.name: outcome.figures for outcome in outcomes}
    write_picture(outcomes, out)
    typer.echo(f"Picture: {out}")
    typer.echo(json.dumps(found))


def _multijoin(quick: bool, only: list[str], out: Path) -> None:
    import json

    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench import multijoin_run, multijoin_spark
    from penstock_bench.kernels import machine, versions
    from penstock_bench.multijoin import sections
    from penstock_bench.multijoin_plot import write_picture

    effort = multijoin_run.QUICK if quick else multijoin_run.WayEffort()
    chosen = sections(effort, multijoin_spark.QUICK if quick else multijoin_spark.MEASURED, only)
    found: dict[str, object] = {
        "benchmark": "multijoin",
        "machine": machine(),
        "versions": versions(),
        "rounds": effort.rounds,
        "scale": effort.scale,
    }
    outcomes = _measured(chosen)
    found |= {outcome.name: outcome.figures for outcome in outcomes}
    write_picture(outcomes, out)
    typer.echo(f"Picture: {out}")
    typer.echo(json.dumps(found))


def _chain(quick: bool, only: list[str], out: Path, trace: Path | None) -> None:
    import json
    from dataclasses import replace

    from penstock_bench.chain.experiments import LOAD, QUICK, ChainEffort
    from penstock_bench.chain.plot import write_picture
    from penstock_bench.chain.sections import sections
    from penstock_bench.kernels import machine, versions

    effort = replace(QUICK if quick else ChainEffort(), trace=_counts(trace))
    chosen = sections(effort, only)
    found: dict[str, object] = {
        "benchmark": "chain",
        "machine": machine(),
        "versions": versions(),
        "blocks": effort.blocks,
        "load": LOAD,
        "trace": None if trace is None else trace.name,
    }
    outcomes = _measured(chosen)
    found |= {outcome.name: outcome.figures for outcome in outcomes}
    write_picture(chosen, outcomes, out)
    typer.echo(f"Picture: {out}")
    typer.echo(json.dumps(found))


def _transactions(quick: bool, only: list[str], out: Path) -> None:
    import json
    from dataclasses import asdict

    from penstock_bench.one_core import use_one_thread

    use_one_thread()
    from penstock_bench.kernels import machine, versions
    from penstock_bench.transactions.reads_plot import write_reads_picture
    from penstock_bench.transactions.sections import QUICK, TrafficEffort, sections

    effort = QUICK if quick else TrafficEffort()
    chosen = sections(effort, only)
    found: dict[str, object] = {
        "benchmark": "transactions",
        "machine": machine(),
        "versions": versions(),
        **asdict(effort),
    }
    outcomes = _measured(chosen)
    found |= {outcome.name: outcome.figures for outcome in outcomes}
    write_reads_picture(outcomes, out)
    typer.echo(f"Picture: {out}")
    typer.echo(json.dumps(found))


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
