"""Settings for all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# Whoever starts the tests in the background has Ctrl-C ignored, and every process that a test
# starts would inherit that. What is handled is the default again in a new process.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run, and no failure because the machine was busy. To look for new
# counterexamples: ./test --hypothesis-profile=default tests/properties
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")
