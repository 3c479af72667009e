"""Parts of `server.py`: the provider, the load, and the servers beside Antiphon's."""
