"""Everything put together: the machines on the durable runtime, with models, tools and a store."""
