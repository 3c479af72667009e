"""Actors of one process that run machines, tasks, streams, callbacks and reducers."""
