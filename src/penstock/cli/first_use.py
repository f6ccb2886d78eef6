"""The first use of an installation whose loops nobody has compiled."""

from __future__ import annotations

import typer


def tell_first_use() -> None:
    """Say why the first queries take longer, if they will."""
    from penstock.state.loop_folder import is_empty

    if is_empty():
        typer.echo(
            "no loops are compiled yet: the first query of each kind takes some ten seconds more; "
            "`penstock doctor` compiles them all, in a minute",
            err=True,
        )
