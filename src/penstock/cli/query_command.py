"""`penstock query`: a question about what the streams of a home retain, answered once."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.status import HomeFolder  # noqa: TC001  # typer reads it


def query(
    question: Annotated[str, typer.Argument(help="A query, with or without AS OF.")],
    home: HomeFolder,
    isolation: Annotated[
        str,
        typer.Option(help="window: the state at the beginning; latest: that at the end."),
    ] = "",
) -> None:
    """Answer a query once, for one instant, from the rows that streams retain.

    The pipeline may run meanwhile, or not. `@` says for which instant it is the answer.
    """
    # Here, because they load the operators.
    from penstock.algebra.time import BEGINNING
    from penstock.connection.questions.one_time_query import asked
    from penstock.operators.saved_tables import arrays_of
    from penstock.results.answer_text import snapshot_text
    from penstock.spark.home_view import view_of
    from penstock.store.layout import Home

    view = view_of(Home(home))
    session = view.plan.session
    try:
        if isolation:
            session.settings = session.settings.changed("isolation", isolation)
        answer = asked(question, session, view, view.tables)
    finally:
        view.release()
    columns = tuple(arrays_of(answer.to_arrow()))
    instant = BEGINNING if answer.instant is None else answer.instant
    for text in snapshot_text(answer.plan, None, instant, columns):
        typer.echo(text)
