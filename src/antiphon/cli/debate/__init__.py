"""The command `antiphon debate`."""
