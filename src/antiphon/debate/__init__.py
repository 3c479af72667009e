"""Debates between models, with a judge and a budget."""
