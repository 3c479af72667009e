"""The index of a store: rows and texts of trees, projected from their steps."""
