class ProjectionStateError(Exception):
    """The projection is not in a state that allows this; the sentence is for the page."""
