"""The command `antiphon chat`."""
