"""The command `antiphon run`."""
