"""Rules for projections: few columns, and none that computes nothing."""
