"""The command `antiphon` in the terminal, one module or folder for each of its commands."""
