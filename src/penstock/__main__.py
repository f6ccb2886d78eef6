"""`python -m penstock`: the same as the command `penstock`."""

from penstock.cli.stopping import stop_at_once_on_signals

# What follows loads for a while.
stop_at_once_on_signals()

from penstock.cli.app import main  # noqa: E402

if __name__ == "__main__":
    main()
