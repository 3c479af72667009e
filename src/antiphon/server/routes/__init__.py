"""The routes of the server; each calls one method of the app."""
