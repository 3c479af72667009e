"""SCXML documents as machines: loaded, run with the ECMAScript data model, and written."""
