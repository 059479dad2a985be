"""A read model for the replay benchmark, as an application of the operator's would have it."""
