"""Endpoints called by requests: by FastAPI, and without it for the first requests of windows."""
