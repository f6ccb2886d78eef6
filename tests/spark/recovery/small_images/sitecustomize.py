"""On PYTHONPATH, this makes the processes that keep lanes write images after a few kilobytes.

So that short tests pass through images, too; all else is as it is.
"""

import sys

if "penstock.pipeline.serving" in sys.orig_argv:
    from penstock.pipeline.keeping import Keeper

    assert Keeper.__init__.__defaults__ is not None
    assert len(Keeper.__init__.__defaults__) == 1
    Keeper.__init__.__defaults__ = (6000,)
