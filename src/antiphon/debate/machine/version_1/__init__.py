"""Version 1 of the debate, by which journals of release 0.1 are replayed."""
