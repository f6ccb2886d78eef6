"""The home of a pipeline: a folder of immutable files, and the records that say which are valid."""
