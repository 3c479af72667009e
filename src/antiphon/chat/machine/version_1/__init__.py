"""Version 1 of the chat, by which journals of release 0.1 are replayed."""
