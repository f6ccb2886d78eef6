"""Stage 2: syntax tree and catalog to logical plan; names, types, and what is refused."""
