"""Stream tests: streams in, answers at instants, run on every engine."""
