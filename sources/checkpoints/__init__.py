"""Checkpoints that other systems keep: how far, whose worker is seen, and taking one back."""
