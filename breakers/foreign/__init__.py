"""Other libraries' breakers: small readers of the keys they keep in Redis, and the scan that finds them."""
