"""Every function and aggregate of the language, as templates whose holes name kinds of values."""

from __future__ import annotations

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "INT": (
        "(<INT> + <INT>)", "(<INT> - <INT>)", "(<INT> * <INT>)", "(<INT> % 3)", "(<INT> % <INT>)",
        "PMOD(<INT>, 3)", "(- <INT>)", "ABS(<INT>)", "LENGTH(<STRING>)", "(<INT> & 3)",
        "(<INT> | <INT>)", "(<INT> ^ 1)", "(~ <INT>)", "CAST(<STRING> AS INT)",
        "CAST(<BOOLEAN> AS INT)", "CAST(<DECIMAL> AS INT)", "INSTR(<STRING>, 'b')",
        "POSITION('a', <STRING>)", "POSITION('a', <STRING>, <INT>)", "ASCII(<STRING>)",
        "YEAR(<DATE>)", "QUARTER(<DATE>)", "MONTH(<DATE>)", "DAY(<TIMESTAMP>)",
        "DAYOFWEEK(<DATE>)", "WEEKDAY(<DATE>)", "DAYOFYEAR(<DATE>)", "WEEKOFYEAR(<DATE>)",
        "HOUR(<TIMESTAMP>)", "MINUTE(<TIMESTAMP>)", "SECOND(<TIMESTAMP>)",
        "DATEDIFF(<DATE>, <DATE>)", "EXTRACT(MONTH FROM <DATE>)",
    ),
    "BIGINT": (
        "(<BIGINT> + <INT>)", "(<BIGINT> - <BIGINT>)", "(<BIGINT> * 2)", "(<BIGINT> DIV <INT>)",
        "(<INT> DIV 2)", "(<BIGINT> % 5)", "ABS(<BIGINT>)", "(- <BIGINT>)", "CAST(<INT> AS BIGINT)",
        "CAST(<DECIMAL> AS BIGINT)", "FLOOR(<DOUBLE>)", "CEIL(<DOUBLE>)",
        "UNIX_SECONDS(<TIMESTAMP>)",
        "UNIX_MILLIS(<TIMESTAMP>)", "UNIX_MICROS(<TIMESTAMP>)",
    ),
    "DOUBLE": (
        "(<DOUBLE> + <DOUBLE>)", "(<DOUBLE> - <INT>)", "(<DOUBLE> * 2)", "(<DOUBLE> * -1)",
        "(<DOUBLE> / 2)", "(- <DOUBLE>)", "ABS(<DOUBLE>)", "SIGN(<DOUBLE>)",
        "CAST(<INT> AS DOUBLE)",
    ),
    "WILD": (
        "(<INT> / <INT>)", "(<INT> / 3)", "(- <WILD>)", "ABS(<WILD>)", "CAST(<DECIMAL> AS DOUBLE)",
        "CAST(<STRING> AS DOUBLE)", "ROUND(<WILD>, 1)", "(<WILD> / 2)", "(<WILD> * 2)",
        "SIGN(<WILD>)",
    ),
    "FLOAT": (
        "(<WILD> + <WILD>)", "(<WILD> * <WILD>)", "(<DOUBLE> / <WILD>)", "(<WILD> % <INT>)",
        "SQRT(<WILD>)", "CBRT(<DOUBLE>)", "EXP(<WILD>)", "LN(<WILD>)", "LOG10(<INT>)",
        "LOG2(<INT>)",
        "SIN(<WILD>)", "COS(<INT>)", "TAN(<INT>)", "ASIN(<DOUBLE>)", "ACOS(<DOUBLE>)",
        "ATAN(<WILD>)",
        "DEGREES(<DOUBLE>)", "RADIANS(<DOUBLE>)", "LOG(2, <DOUBLE>)", "POWER(<INT>, 2)",
        "POWER(<DOUBLE>, <INT>)", "ATAN2(<DOUBLE>, <INT>)", "(PI() * <INT>)",
    ),
    "DECIMAL": (
        "(<DECIMAL> + <DECIMAL>)", "(<DECIMAL> - <INT>)", "(<DECIMAL> * 2)", "(<DECIMAL> / 3)",
        "(<DECIMAL> % 2)", "ABS(<DECIMAL>)", "ROUND(<DECIMAL>, 1)", "CAST(<INT> AS DECIMAL(12, 2))",
        "CAST(<STRING> AS DECIMAL(12, 2))", "CEIL(<DECIMAL>)", "FLOOR(<DECIMAL>)", "(- <DECIMAL>)",
        "CAST((<DECIMAL> * <DECIMAL>) AS DECIMAL(12, 2))",
    ),
    "STRING": (
        "(<STRING> || <STRING>)", "UPPER(<STRING>)", "LOWER(<STRING>)", "TRIM(<STRING>)",
        "LTRIM(<STRING>)", "RTRIM(<STRING>)", "REVERSE(<STRING>)", "INITCAP(<STRING>)",
        "SUBSTRING(<STRING>, 2)", "SUBSTRING(<STRING>, <INT>, 2)", "LEFT(<STRING>, 1)",
        "RIGHT(<STRING>, <INT>)", "REPLACE(<STRING>, 'a', 'c')", "TRANSLATE(<STRING>, 'ab', 'b')",
        "LPAD(<STRING>, 3, '*')", "RPAD(<STRING>, 3, 'xy')", "REPEAT(<STRING>, 2)",
        "CONCAT(<STRING>, <INT>)", "CONCAT_WS('-', <STRING>, <STRING>)", "CHR(65)",
        "SPLIT_PART(<STRING>, ' ', 1)", "CAST(<INT> AS STRING)", "CAST(<DATE> AS STRING)",
        "CAST(<BOOLEAN> AS STRING)", "CAST(<DECIMAL> AS STRING)",
        "REGEXP_REPLACE(<STRING>, '[ab]+', 'z')", "REGEXP_EXTRACT(<STRING>, '(a)(b)?', 1)",
        "DATE_FORMAT(<TIMESTAMP>, 'yyyy-MM-dd HH')",
    ),
    "BOOLEAN": (
        "(<INT> > <INT>)", "(<STRING> = <STRING>)", "(<BOOLEAN> AND <BOOLEAN>)", "(NOT <BOOLEAN>)",
        "ISNAN(<WILD>)", "(<INT> IS NULL)", "STARTSWITH(<STRING>, 'a')",
    ),
    "DATE": (
        "DATE_ADD(<DATE>, 1)", "DATE_SUB(<DATE>, <INT>)", "ADD_MONTHS(<DATE>, 1)",
        "LAST_DAY(<DATE>)",
        "TRUNC(<DATE>, 'month')", "TO_DATE(<STRING>)", "CAST(<TIMESTAMP> AS DATE)",
        "MAKE_DATE(2024, <INT>, 28)", "(<DATE> + INTERVAL 2 DAYS)",
    ),
    "TIMESTAMP": (
        "DATE_TRUNC('hour', <TIMESTAMP>)", "(<TIMESTAMP> + INTERVAL 3 SECONDS)",
        "TO_TIMESTAMP(<STRING>)", "TIMESTAMP_SECONDS(<INT>)", "TIMESTAMP_MILLIS(<INT>)",
        "TIMESTAMP_MICROS(<INT>)", "CAST(<DATE> AS TIMESTAMP)",
    ),
}  # fmt: skip
"""By the kind of the result."""

OF_ANY_KIND = (
    "COALESCE(<>, <>)", "NULLIF(<>, <>)", "IFNULL(<>, <>)", "NVL2(<INT>, <>, <>)",
    "IF(<?>, <>, <>)", "CASE WHEN <?> THEN <> ELSE <> END", "CASE <INT> WHEN 1 THEN <> END",
    "CASE WHEN <?> THEN <> WHEN <?> THEN <> END", "GREATEST(<>, <>)", "LEAST(<>, <>, <>)",
)  # fmt: skip
"""For a result of any kind, which stands for `<>`; `<?>` is a condition."""

COMPARISONS = (
    "<> = <>", "<> != <>", "<> != <>", "<> < <>", "<> <= <>", "<> <= <>", "<> > <>", "<> >= <>",
    "<> >= <>", "<> IS NULL", "<> IS NOT NULL", "<> IS NOT NULL", "<> BETWEEN <> AND <>",
    "<> IN (<>, <>)", "<> NOT IN (<>, <>)",
    "<> IN (<>, <>, NULL)", "<> IS DISTINCT FROM <>", "<> IS NOT DISTINCT FROM <>",
)  # fmt: skip
"""Conditions on values of one kind, which stands for `<>`."""

CONDITIONS = (
    "<STRING> LIKE 'a%'", "<STRING> LIKE '_b%'", "<STRING> NOT LIKE '%a'", "<STRING> ILIKE 'b%'",
    "<STRING> RLIKE '^a'", "ENDSWITH(<STRING>, 'b')", "CONTAINS(<STRING>, 'a')", "<BOOLEAN>",
    "ISNAN(<WILD>)", "<INT> % 2 = 0", "<INT> > 0", "<INT> > <DOUBLE>", "<DECIMAL> > <INT>",
    "<STRING> LIKE 'a!%' ESCAPE '!'",
)  # fmt: skip

CONNECTIVES = (
    "(<?> AND <?>)", "(<?> OR <?>)", "NOT (<?>)", "(<?>) IS TRUE", "(<?>) IS NOT FALSE",
    "(<?>) IS FALSE", "(<?>) IS NOT TRUE",
)  # fmt: skip

AGGREGATES: dict[str, tuple[str, ...]] = {
    "BIGINT": (
        "COUNT(*)", "COUNT(*)", "COUNT(!<INT>)", "COUNT(!<STRING>)", "COUNT(<FLOAT>)",
        "SUM(!<INT>)", "SUM(!<INT>)", "SUM(!<BIGINT>)", "MIN(<BIGINT>)", "MAX(!<BIGINT>)",
        "COUNT_IF(<?>)", "COUNT(DISTINCT <INT>, <STRING>)",
    ),
    "INT": ("MIN(<INT>)", "MAX(!<INT>)", "MAX(<INT>)"),
    "DOUBLE": ("SUM(!<DOUBLE>)", "MIN(<DOUBLE>)", "MAX(!<DOUBLE>)"),
    "WILD": (
        "AVG(!<INT>)", "AVG(<DOUBLE>)", "MIN(!<WILD>)", "MAX(<WILD>)", "MEDIAN(!<INT>)",
        "QUANTILE(<INT>, 0.25)",
    ),
    "FLOAT": (
        "SUM(!<WILD>)", "AVG(!<WILD>)", "AVG(<BIGINT>)", "VAR_SAMP(!<INT>)",
        "STDDEV_SAMP(<DOUBLE>)",
        "VAR_POP(<DOUBLE>)", "STDDEV_POP(!<INT>)", "MEDIAN(<WILD>)", "QUANTILE(!<WILD>, 0.9)",
        "VAR_SAMP(<WILD>)", "MEDIAN(<BIGINT>)",
    ),
    "DECIMAL": ("SUM(!<DECIMAL>)", "AVG(!<DECIMAL>)", "MIN(<DECIMAL>)", "MAX(<DECIMAL>)"),
    "STRING": ("MIN(!<STRING>)", "MAX(<STRING>)"),
    "BOOLEAN": ("BOOL_AND(<?>)", "BOOL_OR(!<BOOLEAN>)", "MIN(<BOOLEAN>)"),
    "DATE": ("MIN(<DATE>)", "MAX(<DATE>)"),
    "TIMESTAMP": ("MIN(<TIMESTAMP>)", "MAX(<TIMESTAMP>)"),
}  # fmt: skip
"""Aggregates by the kind of the result; a `!` is where DISTINCT may stand."""
