"""Rules for how a plan is represented: cuts of intervals, subplans that are shared."""
