"""Tokens: what a system needs to report its failures."""
