"""The shop's consumers; importing them makes them known."""

from demo.projections import books, outside, products

__all__ = ["books", "outside", "products"]
