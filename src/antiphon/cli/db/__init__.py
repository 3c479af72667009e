"""The command `antiphon db`: maintenance of the store."""
