"""Sub-windows: the rows of a stream that are retained, in immutable stretches of event time."""
