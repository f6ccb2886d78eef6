"""The planner: how a logical plan will run: lanes, structures, physical operators."""
