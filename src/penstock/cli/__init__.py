"""The command line: one file per command.

`./penstock --help` imports every file here, so they import only typer and the standard library at
the top; what a command needs for its work it imports in its body.
"""
