"""The command `antiphon play`."""
