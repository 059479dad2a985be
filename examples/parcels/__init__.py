"""A complete application on the runtime: a read model, and a call that is protected by a breaker."""
