"""Many actors in one process: what runs machines, tasks, streams, callbacks and reducers."""
