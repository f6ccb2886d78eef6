"""Trees of query text, and the smaller texts that are made of them."""

from __future__ import annotations

from penstock_fuzz.generate import generate
from penstock_fuzz.programs import FuzzProgram
from penstock_fuzz.text import NOTHING, Text, listed, optional, smaller, written


def value(text: str) -> Text:
    return written("value", text)


def test_a_piece_gives_way_to_a_smaller_one_of_its_sort() -> None:
    text = written("value", "({} + {})", value("a"), written("value", "f({})", value("b")))
    assert [str(one) for one in smaller(text)] == ["a", "b", "f(b)", "(a + b)"]


def test_lists_lose_members_but_not_the_last() -> None:
    text = listed("items", ", ", [value("a"), value("b")])
    assert [str(one) for one in smaller(text)] == ["b", "a"]
    assert list(smaller(listed("items", ", ", [value("a")]))) == []


def test_optional_pieces_are_left_out_and_stand_ins_take_the_place() -> None:
    text = written("query", "q{}{}", optional(" WHERE c"), NOTHING, instead=(value("simple"),))
    assert [str(one) for one in smaller(text)] == ["simple", "q"]


def test_making_a_query_smaller_comes_to_an_end() -> None:
    for number in range(30):
        program = generate(f"6/{number}").trial.program
        assert isinstance(program, FuzzProgram)
        text: Text | None = program.query
        steps = 0
        while text is not None:
            text = next(iter(smaller(text)), None)
            steps += 1
        assert steps < 500
