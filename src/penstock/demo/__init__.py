"""The demonstration: a highway with rush hour and an accident, watched by continuous queries."""
