"""What tests of this folder need of the machine, and how long they may take."""

from __future__ import annotations

import os

import pytest

LONG = os.environ.get("PENSTOCK_RECOVERY") == "long"
"""Whether all tests run; else only those that a change should be tried with each time."""

only_long = pytest.mark.skipif(not LONG, reason="takes long: set PENSTOCK_RECOVERY=long")
