"""The command `antiphon chart`: check, draw, explore and compare charts."""
