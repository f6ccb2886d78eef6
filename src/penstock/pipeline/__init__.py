"""What a pipeline consists of, apart from Spark: its plan, its lanes, and who keeps them."""
