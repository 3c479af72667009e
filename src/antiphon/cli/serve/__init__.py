"""The command `antiphon serve`, and `antiphon tokens` for its users."""
