"""Which type a call has, which casts are written out, and what is said about wrong calls."""

from __future__ import annotations

import pytest

from penstock.algebra.expressions import NULL_LITERAL, TRUE, Column, Expression, Literal
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.catalog.functions import (
    common_type,
    common_type_of,
    function_names,
    is_aggregate,
    is_scalar,
    resolve_call,
)
from penstock.errors import PenstockError, Refused, TypeMismatch, UnknownName

K, L, F, S = Column("k", INT), Column("l", BIGINT), Column("f", DOUBLE), Column("s", STRING)
B, D, T = Column("b", BOOLEAN), Column("d", DATE), Column("t", TIMESTAMP)
M = Column("m", decimal(10, 2))
N = Column("n", decimal(38, 18))
ONE, HOUR = Literal(1, INT), Literal(3_600_000_000, INTERVAL)


def text(value: str) -> Literal:
    return Literal(value, STRING)


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (INT, INT, "INT"), (INT, BIGINT, "BIGINT"), (INT, DOUBLE, "DOUBLE"), (NULL, DATE, "DATE"),
        (NULL, NULL, "NULL"), (DATE, TIMESTAMP, "TIMESTAMP"),
        (INT, decimal(4, 2), "DECIMAL(12, 2)"),
        (BIGINT, decimal(4, 2), "DECIMAL(22, 2)"), (decimal(4, 2), DOUBLE, "DOUBLE"),
        (decimal(4, 2), decimal(4, 0), "DECIMAL(6, 2)"),
        (decimal(38, 0), decimal(38, 18), "DECIMAL(38, 0)"),
        (decimal(30, 0), decimal(20, 15), "DECIMAL(38, 8)"), (STRING, INT, "None"),
        (STRING, DATE, "None"), (BOOLEAN, INT, "None"), (DATE, INT, "None"),
        (INTERVAL, INTERVAL, "None"), (INTERVAL, NULL, "None"),
    ],
)  # fmt: skip
def test_common_type(left: Type, right: Type, common: str) -> None:
    assert str(common_type(left, right)) == str(common_type(right, left)) == common


def test_common_type_of_many() -> None:
    assert common_type_of([NULL, INT, DOUBLE, INT]) == DOUBLE
    assert common_type_of([INT, STRING, NULL]) is None
    assert common_type_of([]) == NULL


@pytest.mark.parametrize(
    ("name", "args", "printed", "type_"),
    [
        ("+", (K, K), "k + k", "INT"),
        ("+", (K, L), "CAST(k AS BIGINT) + l", "BIGINT"),
        ("*", (K, F), "CAST(k AS DOUBLE) * f", "DOUBLE"),
        ("/", (K, L), "CAST(k AS DOUBLE) / CAST(l AS DOUBLE)", "DOUBLE"),
        ("/", (M, M), "m / m", "DECIMAL(23, 13)"),
        ("/", (N, N), "n / n", "DECIMAL(38, 6)"),
        ("*", (N, N), "n * n", "DECIMAL(38, 6)"),
        ("*", (M, Literal(2, INT)), "m * 2", "DECIMAL(12, 2)"),
        ("+", (M, K), "m + CAST(k AS DECIMAL(10, 0))", "DECIMAL(13, 2)"),
        ("-", (N, M), "n - m", "DECIMAL(38, 17)"),
        ("%", (M, L), "m % CAST(l AS DECIMAL(20, 0))", "DECIMAL(10, 2)"),
        ("mod", (K, L), "CAST(k AS BIGINT) % l", "BIGINT"),
        ("+", (M, F), "CAST(m AS DOUBLE) + f", "DOUBLE"),
        ("div", (K, K), "CAST(k AS BIGINT) DIV CAST(k AS BIGINT)", "BIGINT"),
        ("div", (M, K), "m DIV CAST(k AS DECIMAL(10, 0))", "BIGINT"),
        ("+", (K, NULL_LITERAL), "k + NULL", "INT"),
        ("+", (NULL_LITERAL, NULL_LITERAL), "NULL + NULL", "DOUBLE"),
        ("negate", (ONE,), "-1", "INT"),
        ("+", (D, K), "DATE_ADD(d, k)", "DATE"),
        ("-", (D, ONE), "DATE_SUB(d, 1)", "DATE"),
        ("-", (D, D), "DATEDIFF(d, d)", "INT"),
        ("+", (D, HOUR), "CAST(d AS TIMESTAMP) + INTERVAL '3600000000'", "TIMESTAMP"),
        (">", (D, text("2024-01-01")), "d > DATE '2024-01-01'", "BOOLEAN"),
        ("<", (text("2024-01-01"), T), "TIMESTAMP '2024-01-01 00:00:00' < t", "BOOLEAN"),
        ("=", (M, ONE), "m = 1.00", "BOOLEAN"),
        ("=", (K, M), "CAST(k AS DECIMAL(12, 2)) = CAST(m AS DECIMAL(12, 2))", "BOOLEAN"),
        ("in", (K, ONE, L), "CAST(k AS BIGINT) IN (1, l)", "BOOLEAN"),
        ("coalesce", (K, NULL_LITERAL), "COALESCE(k, NULL)", "INT"),
        ("nvl", (K, F), "COALESCE(CAST(k AS DOUBLE), f)", "DOUBLE"),
        ("coalesce", (M, ONE), "COALESCE(CAST(m AS DECIMAL(12, 2)), 1.00)", "DECIMAL(12, 2)"),
        ("nvl2", (S, K, F), "IF(s IS NOT NULL, CAST(k AS DOUBLE), f)", "DOUBLE"),
        ("nullif", (M, Literal(0, INT)), "NULLIF(m, 0.00)", "DECIMAL(10, 2)"),
        ("iff", (B, K, F), "IF(b, CAST(k AS DOUBLE), f)", "DOUBLE"),
        ("ceil", (M,), "CEIL(m)", "DECIMAL(9, 0)"),
        ("floor", (K,), "FLOOR(k)", "BIGINT"),
        ("round", (M, ONE), "ROUND(m, 1)", "DECIMAL(10, 1)"),
        ("round", (M,), "ROUND(m, 0)", "DECIMAL(9, 0)"),
        ("round", (M, Literal(-2, INT)), "ROUND(m, -2)", "DECIMAL(9, 0)"),
        ("sqrt", (K,), "SQRT(CAST(k AS DOUBLE))", "DOUBLE"),
        ("substr", (S, L), "SUBSTRING(s, CAST(l AS INT))", "STRING"),
        ("concat", (S, K), "CONCAT(s, CAST(k AS STRING))", "STRING"),
        ("year", (T,), "YEAR(CAST(t AS DATE))", "INT"),
        ("date_trunc", (text("MON"), T), "DATE_TRUNC('month', t)", "TIMESTAMP"),
        ("trunc", (T, text("MON")), "TRUNC(CAST(t AS DATE), 'month')", "DATE"),
        ("date_format", (D, text("d'.'")),
         "DATE_FORMAT(CAST(d AS TIMESTAMP), 'd''.''')", "STRING"),
        ("&", (K, L), "CAST(k AS BIGINT) & l", "BIGINT"),
        ("|", (K, ONE), "k | 1", "INT"),
        ("^", (K, NULL_LITERAL), "k ^ NULL", "INT"),
        ("&", (NULL_LITERAL, L), "NULL & l", "BIGINT"),
        ("~", (resolve_call("^", (L, L)),), "~(l ^ l)", "BIGINT"),
        ("~", (NULL_LITERAL,), "~NULL", "INT"),
        ("isnan", (M,), "ISNAN(CAST(m AS DOUBLE))", "BOOLEAN"),
        ("to_date", (S,), "CAST(s AS DATE)", "DATE"),
        ("to_timestamp", (D,), "CAST(d AS TIMESTAMP)", "TIMESTAMP"),
        ("upper", (NULL_LITERAL,), "UPPER(NULL)", "STRING"),
    ],
)  # fmt: skip
def test_calls(name: str, args: tuple[Expression, ...], printed: str, type_: str) -> None:
    call = resolve_call(name.upper(), args)
    assert (str(call), str(call.type)) == (printed, type_)


def test_integer_division() -> None:
    assert str(resolve_call("/", (K, ONE), integer_division=True)) == "CAST(k AS BIGINT) DIV 1"
    assert resolve_call("/", (K, F), integer_division=True).type == DOUBLE
    assert resolve_call("/", (M, K), integer_division=True).type.is_decimal


LETTERS = (
    "  The letters are y, Q, M, D, d, E, a, H, h, m, s, S; other letters stand in single quotes."
)

WRONG: list[tuple[str, tuple[Expression, ...], type[PenstockError], str]] = [
    ("upper", (K,), TypeMismatch, "UPPER takes a STRING, not an INT\n  Write CAST(k AS STRING)."),
    ("ucase", (M,), TypeMismatch,
     "UCASE takes a STRING, not a DECIMAL(10, 2)\n  Write CAST(m AS STRING)."),
    ("substring", (S,), TypeMismatch, "SUBSTRING takes 2 or 3 arguments, not 1"),
    ("substring", (S, S), TypeMismatch,
     "SUBSTRING takes an INT as argument 2, not a STRING\n  Write CAST(s AS INT)."),
    ("pi", (K,), TypeMismatch, "PI takes no arguments, not 1"),
    ("concat", (), TypeMismatch, "CONCAT takes at least 1 argument, not 0"),
    ("greatest", (K,), TypeMismatch, "GREATEST takes at least 2 arguments, not 1"),
    ("abs", (K, K), TypeMismatch, "ABS takes 1 argument, not 2"),
    ("and", (K, TRUE), TypeMismatch, "AND takes a BOOLEAN, not an INT\n  Write k <> 0."),
    ("not", (S,), TypeMismatch, "NOT takes a BOOLEAN, not a STRING\n  Write CAST(s AS BOOLEAN)."),
    ("=", (S, K), TypeMismatch, "cannot compare a STRING with an INT\n  Write CAST(s AS INT)."),
    ("<", (F, S), TypeMismatch,
     "cannot compare a DOUBLE with a STRING\n  Write CAST(s AS DOUBLE)."),
    ("=", (B, K), TypeMismatch, "cannot compare a BOOLEAN with an INT\n  Write CAST(b AS INT)."),
    ("=", (D, K), TypeMismatch, "cannot compare a DATE with an INT"),
    ("=", (D, S), TypeMismatch, "cannot compare a DATE with a STRING\n  Write CAST(s AS DATE)."),
    ("in", (K, ONE, text("x")), TypeMismatch,
     "cannot compare an INT with a STRING\n  Write CAST('x' AS INT)."),
    ("=", (HOUR, HOUR), TypeMismatch, "= does not apply to an INTERVAL"),
    (">", (D, text("tomorrow")), TypeMismatch,
     "'tomorrow' is not a DATE\n  Write it as 'YYYY-MM-DD'."),
    (">", (D, text("2024-01-01 10:00")), TypeMismatch,
     "'2024-01-01 10:00' is not a DATE\n  Write it as 'YYYY-MM-DD'."),
    (">", (T, text("noon")), TypeMismatch,
     "'noon' is not a TIMESTAMP\n  Write it as 'YYYY-MM-DD hh:mm:ss'."),
    ("coalesce", (K, S), TypeMismatch,
     "cannot combine an INT with a STRING\n  Write CAST(s AS INT)."),
    ("if", (K, K, K), TypeMismatch, "IF takes a BOOLEAN, not an INT\n  Write k <> 0."),
    ("+", (S, K), TypeMismatch,
     "+ does not apply to a STRING and an INT\n  Write CAST(s AS INT)."),
    ("+", (B, K), TypeMismatch, "+ does not apply to a BOOLEAN and an INT"),
    ("+", (D, F), TypeMismatch, "+ does not apply to a DATE and a DOUBLE"),
    ("-", (T, T), TypeMismatch,
     "- does not apply to a TIMESTAMP and a TIMESTAMP\n"
     "  Write UNIX_MICROS(t) - UNIX_MICROS(t)."),
    ("+", (T, K), TypeMismatch, "+ does not apply to a TIMESTAMP and an INT"),
    ("+", (HOUR, HOUR), TypeMismatch, "+ does not apply to an INTERVAL and an INTERVAL"),
    ("-", (HOUR, T), TypeMismatch, "- does not apply to an INTERVAL and a TIMESTAMP"),
    ("*", (HOUR, K), TypeMismatch, "* does not apply to an INTERVAL and an INT"),
    ("div", (F, K), TypeMismatch,
     "DIV does not apply to a DOUBLE and an INT\n  Write FLOOR of the quotient."),
    ("negate", (S,), TypeMismatch,
     "- takes a number, not a STRING\n  Write CAST(s AS DOUBLE)."),
    ("round", (F, K), TypeMismatch, "ROUND takes a constant number of digits, not k"),
    ("round", (F, S), TypeMismatch,
     "ROUND takes an INT as argument 2, not a STRING\n  Write CAST(s AS INT)."),
    ("like", (S, S, text("ab")), TypeMismatch,
     "the escape of LIKE is one quoted character, not 'ab'"),
    ("rlike", (S, text("a(")), TypeMismatch,
     "'a(' is not a regular expression: missing ), unterminated subpattern at position 1"),
    ("date_trunc", (S, T), TypeMismatch,
     "DATE_TRUNC takes a quoted unit, not s\n  The units are year, quarter, month, week, day, "
     "hour, minute, second, millisecond, microsecond."),
    ("date_trunc", (text("hours"), T), TypeMismatch,
     "DATE_TRUNC has no unit 'hours'\n  Did you mean \"hour\"?"),
    ("trunc", (D, text("day")), TypeMismatch,
     "TRUNC has no unit 'day'\n  The units are year, quarter, month, week."),
    ("trunc", (D, S), TypeMismatch,
     "TRUNC takes a quoted unit, not s\n  The units are year, quarter, month, week."),
    ("date_format", (T, S), TypeMismatch, f"DATE_FORMAT takes a quoted pattern, not s\n{LETTERS}"),
    ("date_format", (T, Literal(None, STRING)), TypeMismatch,
     f"DATE_FORMAT takes a quoted pattern, not NULL\n{LETTERS}"),
    ("date_format", (T, text("YYYY")), TypeMismatch,
     f"DATE_FORMAT cannot read the pattern 'YYYY': Y is not one of its letters\n{LETTERS}"),
    ("date_format", (T, text("MMMMM")), TypeMismatch,
     "DATE_FORMAT cannot read the pattern 'MMMMM': "
     f"it takes at most 4 of M side by side\n{LETTERS}"),
    ("date_format", (T, text("y[M]")), TypeMismatch,
     f"DATE_FORMAT cannot read the pattern 'y[M]': [ in it is not quoted\n{LETTERS}"),
    ("date_format", (T, text("y 'AD")), TypeMismatch,
     f"DATE_FORMAT cannot read the pattern 'y ''AD': a quote in it is not closed\n{LETTERS}"),
    ("date_format", (K, text("y")), TypeMismatch, "DATE_FORMAT takes a TIMESTAMP, not an INT\n"
     "  Write CAST(k AS TIMESTAMP)."),
    ("&", (K, F), TypeMismatch, "& takes an integer, not a DOUBLE\n  Write CAST(f AS INT)."),
    ("|", (B, B), TypeMismatch, "| takes an integer, not a BOOLEAN\n  Write CAST(b AS INT)."),
    ("~", (M,), TypeMismatch, "~ takes an integer, not a DECIMAL(10, 2)\n  Write CAST(m AS INT)."),
    ("isnan", (S,), TypeMismatch,
     "ISNAN takes a number, not a STRING\n  Write CAST(s AS DOUBLE)."),
    ("year", (S,), TypeMismatch, "YEAR takes a DATE, not a STRING\n  Write CAST(s AS DATE)."),
    ("year", (K,), TypeMismatch, "YEAR takes a DATE, not an INT"),
    ("is null", (HOUR,), TypeMismatch, "IS NULL takes a value, not an INTERVAL"),
    ("uper", (S,), UnknownName, 'there is no function UPER\n  Did you mean "UPPER"?'),
    ("stdev", (S,), UnknownName, 'there is no function STDEV\n  Did you mean "STDDEV"?'),
    ("xyzzy", (), UnknownName, "there is no function XYZZY"),
    ("sum", (K,), Refused, "SUM is an aggregate and has no meaning for a single row"),
    ("now", (), Refused,
     "NOW is refused: the answer would depend on when it is computed\n"
     "  Use the event time column of the stream."),
    ("last", (K,), Refused,
     "LAST is refused: the answer would depend on the order of the rows\n  Use MIN or MAX."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "error", "message"), WRONG)
def test_errors(
    name: str, args: tuple[Expression, ...], error: type[PenstockError], message: str
) -> None:
    with pytest.raises(PenstockError) as caught:
        resolve_call(name, args)
    assert (type(caught.value), str(caught.value)) == (error, message)


@pytest.mark.parametrize("name", ["rand", "uuid", "current_timestamp", "current_date"])
def test_what_the_rows_do_not_determine_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="the answer would depend on when it is computed"):
        resolve_call(name, ())


def test_names() -> None:
    names = function_names()
    assert names == sorted(set(names))
    assert {"upper", "ucase", "sum", "mean", "if", "left"} <= set(names)
    assert not {"+", "and", "is null", "negate", "like"} & set(names)
    assert all(is_scalar(name) or is_aggregate(name) for name in names)
    assert is_scalar("UPPER")
    assert not is_scalar("sum")
    assert not is_aggregate("upper")
