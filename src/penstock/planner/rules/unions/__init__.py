"""Rules for unions."""
