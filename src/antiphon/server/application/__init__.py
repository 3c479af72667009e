"""The ASGI application of a server: with FastAPI, and without it for the first requests of windows."""
