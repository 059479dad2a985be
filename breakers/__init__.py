"""Circuit breakers: the library that calls go through, the page that shows them, and other libraries' breakers."""
