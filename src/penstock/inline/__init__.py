"""The inline connection: statements, rows and answers in this process, for notebooks and tests."""
