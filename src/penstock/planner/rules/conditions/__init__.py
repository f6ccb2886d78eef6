"""Rules for conditions and what they decide: constants, contradictions, ranges of values."""
