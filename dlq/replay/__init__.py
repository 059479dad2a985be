"""Replay: letters are handled again, in the order of their sequences, by a run that survives its workers."""
