"""Results of the functions of dates and timestamps."""

from __future__ import annotations

from penstock.algebra.expressions import Literal
from penstock.algebra.types import DATE, STRING, TIMESTAMP
from penstock.reference.calendar import days_of
from unit.functions.rows import (
    AN_ERROR,
    FAILS,
    INF,
    MAX_BIGINT,
    MAX_INT,
    MIN_BIGINT,
    MIN_INT,
    NAN,
    REFUSES,
    Table,
    at,
    big,
    const,
    day,
    dec,
    null,
    row,
)

LEAP, EVE, MOMENT = day("2024-02-29"), day("1969-12-31"), at("2024-02-29 13:45:59.123456")
BEFORE = at("1969-12-31 23:59:59.5")
FAR = Literal(4_000_000, DATE)
"""A day of the year 12921, where Python's calendar has ended."""
WRAPS = "wraps around"

PARTS: Table = {
    "year": [
        row(LEAP, 2024),
        row(MOMENT, 2024),
        row(const("2023-05-06"), 2023),
        row(EVE, 1969),
        row(FAR, 12921),
    ],
    "quarter": [row(LEAP, 1), row(day("2024-04-01"), 2), row(day("2024-12-31"), 4)],
    "month": [row(LEAP, 2), row(EVE, 12), row(BEFORE, 12)],
    "day": [row(LEAP, 29), row(EVE, 31), row(BEFORE, 31)],
    "dayofweek": [row(day("2024-03-03"), 1), row(day("2024-03-02"), 7), row(EVE, 4)],
    "weekday": [row(day("2024-03-04"), 0), row(day("2024-03-03"), 6), row(EVE, 2)],
    "dayofyear": [row(LEAP, 60), row(day("2024-12-31"), 366), row(day("2023-01-01"), 1)],
    "weekofyear": [row(day("2021-01-03"), 53), row(day("2024-12-30"), 1), row(LEAP, 9)],
    "hour": [row(MOMENT, 13), row(LEAP, 0), row(BEFORE, 23), row(const("2024-01-01 07:00"), 7)],
    "minute": [row(MOMENT, 45), row(BEFORE, 59)],
    "second": [row(MOMENT, 59), row(BEFORE, 59), row(at("1970-01-01 00:00:00"), 0)],
}

MOVES: Table = {
    "date_trunc": [
        row("year", MOMENT, at("2024-01-01")),
        row("quarter", at("2024-06-30 01:00"), at("2024-04-01")),
        row("MONTH", MOMENT, at("2024-02-01")),
        row("week", MOMENT, at("2024-02-26")),
        row("day", MOMENT, at("2024-02-29")),
        row("dd", LEAP, at("2024-02-29")),
        row("hour", MOMENT, at("2024-02-29 13:00")),
        row("minute", MOMENT, at("2024-02-29 13:45")),
        row("second", MOMENT, at("2024-02-29 13:45:59")),
        row("millisecond", MOMENT, at("2024-02-29 13:45:59.123")),
        row("microsecond", MOMENT, MOMENT),
        row("second", BEFORE, at("1969-12-31 23:59:59")),
        row("week", BEFORE, at("1969-12-29")),
        row("year", BEFORE, at("1969-01-01")),
        row("week", Literal(MIN_BIGINT, TIMESTAMP), FAILS, spark=AN_ERROR),
    ],
    "date_add": [
        row(LEAP, 1, day("2024-03-01")),
        row(MOMENT, -29, day("2024-01-31")),
        row(const("2024-02-28"), 1, LEAP),
        row(LEAP, big(1), day("2024-03-01"), spark=REFUSES),
        row(LEAP, MAX_INT, FAILS, spark=WRAPS),
    ],
    "date_sub": [
        row(day("2024-03-01"), 1, LEAP),
        row(day("1969-12-30"), MAX_INT, FAILS, spark=WRAPS),
    ],
    "datediff": [
        row(day("2024-03-01"), LEAP, 1),
        row(LEAP, day("2024-03-01"), -1),
        row(MOMENT, const("2024-02-28"), 1),
    ],
    "add_months": [
        row(LEAP, 12, day("2025-02-28")),
        row(day("2024-01-31"), 1, LEAP),
        row(LEAP, -1, day("2024-01-29")),
        row(day("2024-11-30"), 3, day("2025-02-28")),
        row(FAR, 0, FAR),
        row(LEAP, MAX_INT, FAILS, spark=AN_ERROR),
    ],
    "last_day": [
        row(day("2024-02-01"), LEAP),
        row(EVE, EVE),
        row(day("2023-02-28"), day("2023-02-28")),
    ],
    "make_date": [
        row(2024, 2, 29, LEAP),
        row(2023, 2, 29, FAILS),
        row(2024, 13, 1, FAILS),
        row(2024, 0, 1, FAILS),
        row(1, 1, 1, day("0001-01-01")),
        row(MAX_INT, 1, 1, FAILS),
    ],
}

LONGEST = "yyyyyy QQQQ MMMM DDD dd EEEE a HH hh mm ss SSSSSSSSS"

FORMATS: Table = {
    "date_format": [
        row(MOMENT, "yyyy-MM-dd HH:mm:ss.SSSSSS", "2024-02-29 13:45:59.123456"),
        row(MOMENT, "y Q M D d E a H h m s S", "2024 1 2 60 29 Thu PM 13 1 45 59 1"),
        row(MOMENT, "yy QQ MM DD dd EE hh SS", "24 01 02 60 29 Thu 01 12"),
        row(MOMENT, "yyy QQQ MMM DDD EEE SSS", "2024 Q1 Feb 060 Thu 123"),
        row(
            MOMENT,
            LONGEST,
            "002024 1st quarter February 060 29 Thursday PM 13 01 45 59 123456000",
        ),
        row(
            BEFORE,
            LONGEST,
            "001969 4th quarter December 365 31 Wednesday PM 23 11 59 59 500000000",
        ),
        row(at("2024-05-06 00:07:08"), "EEEE d MMMM h:m:s a", "Monday 6 May 12:7:8 AM"),
        row(at("2024-09-07 12:00"), "E d MMM, hh a, QQQQ", "Sat 7 Sep, 12 PM, 3rd quarter"),
        row(LEAP, "yyyyMMdd'T'HHmmss", "20240229T000000"),
        row(const("2024-01-01"), "D DD DDD", "1 01 001"),
        row(FAR, "y yy yyy yyyy yyyyy", "12921 21 12921 +12921 12921"),
        row(Literal(days_of(0, 3, 1), DATE), "y yy yyy yyyy", "0 00 000 0000"),
        row(Literal(days_of(-1, 3, 1), DATE), "y yy yyy yyyy", "-1 01 -001 -0001"),
        row(Literal(MIN_BIGINT, TIMESTAMP), "y-M-d yyyyyy", "-290308-12-21 -290308"),
        row(Literal(MAX_BIGINT, TIMESTAMP), "yyyy H", "+294247 4"),
        row(MOMENT, "", ""),
        row(MOMENT, "'d''d' ''y''", "d'd '2024'"),
        row(MOMENT, "d. é\n%\\", "29. é\n%\\"),
        row(Literal(MAX_INT, DATE), "y", FAILS, spark=AN_ERROR),
        row(null(TIMESTAMP), "y", None),
    ],
    "trunc": [
        row(LEAP, "year", day("2024-01-01")),
        row(day("2024-06-30"), "quarter", day("2024-04-01")),
        row(LEAP, "MM", day("2024-02-01")),
        row(LEAP, "Week", day("2024-02-26")),
        row(MOMENT, "mon", day("2024-02-01")),
        row(BEFORE, "yy", day("1969-01-01")),
        row(EVE, "week", day("1969-12-29")),
        row(const("2024-02-29"), "yyyy", day("2024-01-01")),
        row(FAR, "month", Literal(days_of(12921, 8, 1), DATE)),
        row(null(DATE), "year", None),
        row(Literal(MIN_INT, DATE), "year", FAILS, spark=WRAPS),
    ],
}

CONVERSIONS: Table = {
    "to_date": [
        row("2024-02-29", LEAP),
        row(" 2024-2-29 ", LEAP),
        row("2024-02-29T10:00", LEAP),
        row("2024", day("2024-01-01")),
        row("2023-02-29", FAILS),
        row("29.2.2024", FAILS),
        row("", FAILS),
        row(MOMENT, LEAP),
        row(LEAP, LEAP),
        row(null(STRING), None),
        row(BEFORE, EVE),
    ],
    "to_timestamp": [
        row("2024-02-29 13:45:59.123456", MOMENT),
        row("2024-02-29T13:45:59.123456Z", MOMENT),
        row("2024-02-29 14:45:59.1234567+01:00", MOMENT),
        row("2024-02-29", at("2024-02-29")),
        row("2024-02", at("2024-02-01")),
        row("2024-02-29 7:5", at("2024-02-29 07:05")),
        row("2024-02-29 7", at("2024-02-29 07:00")),
        row("2024-02-29 24:00:00", FAILS),
        row("noon", FAILS),
        row(LEAP, at("2024-02-29")),
        row(MOMENT, MOMENT),
        row("1969-12-31 23:59:59.5", BEFORE),
        row("2024-02-29 08:15:59.123456-05:30", MOMENT),
    ],
    "unix_seconds": [
        row(BEFORE, big(-1)),
        row(at("1970-01-02"), big(86400)),
        row(EVE, big(-86400), spark=REFUSES),
    ],
    "unix_millis": [
        row(BEFORE, big(-500)),
        row(Literal(-1, TIMESTAMP), big(-1)),
        row(EVE, big(-86_400_000), spark=REFUSES),
    ],
    "unix_micros": [row(BEFORE, big(-500_000)), row(MOMENT, big(1709214359123456))],
    "timestamp_seconds": [
        row(-1, at("1969-12-31 23:59:59")),
        row(1.5, at("1970-01-01 00:00:01.5")),
        row(-0.5, BEFORE),
        row(dec("1.2345678"), at("1970-01-01 00:00:01.234567"), spark=AN_ERROR),
        row(dec("1.234567"), at("1970-01-01 00:00:01.234567")),
        row(big(MAX_BIGINT), FAILS, spark=AN_ERROR),
        row(NAN, FAILS),
        row(INF, FAILS),
        row(1e300, FAILS, spark="gives the last TIMESTAMP"),
    ],
    "timestamp_millis": [
        row(big(-500), BEFORE),
        row(1000, at("1970-01-01 00:00:01")),
        row(big(MAX_BIGINT), FAILS, spark=AN_ERROR),
    ],
    "timestamp_micros": [row(big(-500_000), BEFORE), row(1, at("1970-01-01 00:00:00.000001"))],
}
