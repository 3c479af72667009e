"""Version 1 of the run, by which journals of release 0.1 are replayed."""
