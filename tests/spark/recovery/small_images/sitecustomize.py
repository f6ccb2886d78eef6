"""On PYTHONPATH, this makes the processes that keep lanes write images after a few kilobytes.

So that short tests pass through images, too; all else is as it is.
"""

import sys

if "penstock.lane_host.lane_server" in sys.orig_argv:
    from penstock.lane_host.lane_host import LEAST_LOG, LaneHost

    defaults = LaneHost.__init__.__defaults__
    assert defaults is not None
    assert defaults[0] == LEAST_LOG
    LaneHost.__init__.__defaults__ = (6000, *defaults[1:])
