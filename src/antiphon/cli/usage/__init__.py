"""The command `antiphon usage`: tokens and costs."""
