"""A pipeline without Spark: its plan, its lanes, and who keeps them."""
