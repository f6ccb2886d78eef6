"""The engine without Spark: operators, state and results in this process."""
