"""On PYTHONPATH, this makes the processes that keep lanes write images after a few kilobytes.

So that short tests pass through images, too; all else is as it is.
"""

import sys

if "penstock.lane_host.lane_server" in sys.orig_argv:
    from penstock.lane_host.lane_host import LaneHost

    assert LaneHost.__init__.__defaults__ is not None
    assert len(LaneHost.__init__.__defaults__) == 1
    LaneHost.__init__.__defaults__ = (6000,)
