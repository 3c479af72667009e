"""Version 1 of the thread and the tools, by which journals of release 0.1 are replayed."""
