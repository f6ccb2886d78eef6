"""The process that hosts lanes: its client and server, the logs it is fed from, images of state."""
