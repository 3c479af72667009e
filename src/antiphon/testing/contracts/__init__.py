"""Contracts that every store and every provider keeps, as tests."""
