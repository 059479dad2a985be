"""The consumer runtime: one batch at a time, under the consumer's lock, in one transaction with its checkpoint."""
