"""Windows: commands work on the threads of a store, in their own process or by the server that owns the store."""
