"""`penstock fuzz`: random queries over random input on an engine, judged by the reference."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from penstock_fuzz.campaign import Campaign, CampaignOutcome
    from penstock_fuzz.trial import Contender

MOST_TRIES = 3000
"""So often a trial that failed is made smaller and tried again, at most."""
TRIES = {"pipeline": 1000, "spark": 150}
"""The same for engines that take longer."""


def fuzz(
    seconds: Annotated[float, typer.Option(help="How long to try.")] = 60.0,
    trials: Annotated[
        int | None, typer.Option(help="How many to try instead, however long that takes.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="What is tested: inline, pipeline or spark; questions, pipeline-questions."
        ),
    ] = "inline",
    seed: Annotated[
        int | None, typer.Option(help="Equal seeds try equal trials; default: a new one.")
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="How plans are run: upa, direct, negative, auto, or all.")
    ] = "all",
    out: Annotated[Path, typer.Option(help="The folder for the file of a failure.")] = Path("."),
    trial: Annotated[int, typer.Option(help="The number of the trial to begin with.")] = 0,
    updates: Annotated[
        bool,
        typer.Option(
            "--updates", help="Random updates of relations below queries side by side instead."
        ),
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(help="Run the trial of such a file instead, as it was fed.")
    ] = None,
) -> None:
    """Try random queries, inputs and cuts; shrink the first failure to a stream test."""
    from penstock.cli.checkouts import require_checkout
    from penstock.errors import QueryWarning

    require_checkout("penstock_fuzz", "fuzz")
    # Random queries are unwise at times.
    warnings.simplefilter("ignore", QueryWarning)
    from penstock_fuzz.campaign import Campaign
    from penstock_fuzz.engines import contender_called

    contender = contender_called(engine)
    if replay is not None:
        _replay(replay, contender)
        return
    limits = {"seconds": seconds} if trials is None else {"trials": trials}
    campaign = Campaign(contender, _seed(seed), _strategies(strategy), first=trial, **limits)
    length = f"{seconds:g} s" if trials is None else f"{trials} trials"
    typer.echo(f"seed {campaign.seed}, engine {engine}, {length}")
    if updates:
        _try_updates(campaign)
        return
    if engine == "inline":
        seconds, some = campaign.seconds / 10, campaign.trials / 10
        _try_updates(replace(campaign, seconds=seconds, trials=some))
    outcome = campaign.run(typer.echo)
    typer.echo(outcome.coverage.table())
    if contender.replans:
        from penstock_fuzz.lane_hosts import LaneHostContender

        assert isinstance(contender, LaneHostContender)
        typer.echo(contender.replanning.line())
    if engine.endswith("questions"):
        from penstock_fuzz.questioned import QuestionedConnection, QuestionedPipeline

        assert isinstance(contender, QuestionedConnection | QuestionedPipeline)
        counts = sorted(contender.counts.items())
        typer.echo("questions    " + ", ".join(f"{what} {count}" for what, count in counts))
    typer.echo(f"seed {campaign.seed}: {outcome.coverage.summary()}")
    if outcome.found is not None:
        _report(outcome, campaign, engine, out)
        raise typer.Exit(1)


def _try_updates(campaign: Campaign) -> None:
    from penstock_fuzz.updates import fault_of, smaller

    outcome = campaign.run_updates(typer.echo)
    typer.echo(f"seed {campaign.seed}: {outcome.summary()}")
    if outcome.case is not None:
        typer.echo(f"FAILED program {outcome.number}, shrinking it")
        small = smaller(outcome.case, MOST_TRIES)
        typer.echo(f"{small}\n{fault_of(small)}")
        raise typer.Exit(1)


def _seed(given: int | None) -> int:
    import random

    return random.SystemRandom().randrange(2**31) if given is None else given


def _strategies(name: str) -> tuple[str, ...]:
    from penstock.errors import require_known
    from penstock_fuzz.trial import STRATEGIES

    if name == "all":
        return STRATEGIES
    require_known(name, (*STRATEGIES, "all"), "strategy", "Strategies")
    return (name,)


def _report(outcome: CampaignOutcome, campaign: Campaign, engine: str, out: Path) -> None:
    """Shrink the failure, write its file, say where it is and what is wrong."""
    from penstock_fuzz.files import suffix_of, trial_text
    from penstock_fuzz.shrink import shrink

    assert outcome.found is not None
    typer.echo(f"FAILED trial {outcome.number}, shrinking it")
    small = shrink(outcome.found, campaign.engine, TRIES.get(engine, MOST_TRIES))
    name = f"fuzz_{campaign.seed}_{outcome.number}{suffix_of(small.trial)}"
    comment = (
        f"{engine} and the reference evaluator disagree ({small.failure.kind}). Found by:\n"
        f"  ./penstock fuzz --engine {engine} --seed {campaign.seed} --trial {outcome.number}"
    )
    title = f"seed {campaign.seed}, trial {outcome.number}"
    out.mkdir(parents=True, exist_ok=True)
    (out / name).write_text(trial_text(small.trial, title, comment), "utf-8")
    typer.echo(f"{small.trial.query}\n{small.failure.text}\nwritten to {out / name}")


def _replay(path: Path, contender: Contender) -> None:
    from penstock.errors import DataError
    from penstock_fuzz.check import check
    from penstock_fuzz.files import read_trial

    try:
        text = path.read_text("utf-8")
    except OSError as fault:
        msg = f"cannot read {path}: {fault}"
        raise DataError(msg) from fault
    failure = check(read_trial(text, str(path)), contender)
    if failure is not None:
        typer.echo(f"FAILED {path}\n{failure.text}")
        raise typer.Exit(1)
    typer.echo(f"{path}: passed")
