"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every run, and no failure because the machine was busy. To look for new
# counterexamples: ./test --hypothesis-profile=default tests/properties
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")
