"""`python -m penstock`: the command line."""

from penstock.cli.app import main

if __name__ == "__main__":
    main()
