"""Django's own admin over the letters, as somebody would set it up who has no console: the same columns and filters."""
