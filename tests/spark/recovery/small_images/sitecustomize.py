"""On PYTHONPATH, this makes the processes that keep lanes write images after a few kilobytes.

They also see soon whether their lanes are kept elsewhere. So that short tests pass through images
and moves, too; all else is as it is.
"""

import sys

if "penstock.lane_host.lane_server" in sys.orig_argv:
    from penstock.lane_host import lane_host
    from penstock.lane_host.lane_host import LEAST_LOG, LaneHost

    lane_host.LEFT_SECONDS = 0.5

    defaults = LaneHost.__init__.__defaults__
    assert defaults is not None
    assert defaults[0] == LEAST_LOG
    LaneHost.__init__.__defaults__ = (6000, *defaults[1:])
