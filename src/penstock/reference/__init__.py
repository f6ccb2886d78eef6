"""The oracle: the meaning of a plan, computed straight from the definitions, slowly."""
