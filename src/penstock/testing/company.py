"""Questions in company: names made apart, so that many questions fit into one catalog."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from penstock.cql.dialect import Cql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.testing.engines import Question

KINDS = {"stream", "relation", "view", "query", "sink"}
_LITERALS = {TokenType.STRING, TokenType.NUMBER}


def settings_of(question: Question) -> tuple[str, ...] | None:
    """The settings of a question before it declares anything; None if it sets something later.

    Settings hold for all that follows: only questions with the same ones can share a catalog.
    """
    declared = list(question.statements)
    settings = []
    while declared and _is_setting(declared[0]):
        settings.append(declared.pop(0))
    return None if any(map(_sets, declared)) else tuple(settings)


def _is_setting(text: str) -> bool:
    tokens = Cql().tokenize(text)
    return tokens[0].text.lower() == "set" and all(one.text != ";" for one in tokens[:-1])


def _sets(text: str) -> bool:
    return any(token.text.lower() == "set" for token in Cql().tokenize(text))


def named_apart(question: Question, prefix: str) -> Question:
    """A question with a prefix before the names of all that it declares.

    A column or an alias of the same name is renamed as well, and wherever it is used: that
    changes no answer.
    """
    names = {name for text in question.statements for name in _declared(text)}
    statements = tuple(_renamed(text, names, prefix) for text in question.statements)
    return replace(question, statements=statements, text=_renamed(question.text, names, prefix))


def _declared(text: str) -> Iterator[str]:
    """The names that statements create."""
    words = [token.text for token in Cql().tokenize(text)]
    for place, word in enumerate(words):
        if word.lower() != "create":
            continue
        rest = words[place:]
        while rest.pop(0).lower() not in KINDS:
            pass
        if [word.lower() for word in rest[:3]] == ["if", "not", "exists"]:
            del rest[:3]
        yield rest[0].lower()


def _renamed(text: str, names: set[str], prefix: str) -> str:
    """A text with the prefix before all names; from the end, so that places stay true."""
    tokens = Cql().tokenize(text)
    for before, token in reversed(list(zip([None, *tokens], tokens, strict=False))):
        is_unit = before is not None and before.token_type is TokenType.NUMBER  # 5 SECONDS
        if token.text.lower() in names and token.token_type not in _LITERALS and not is_unit:
            # A name in quotes begins after the first of them.
            place = token.start + (token.token_type is TokenType.IDENTIFIER)
            text = f"{text[:place]}{prefix}{text[place:]}"
    return text
