"""The sync: what changed at a source since the last look is made true here, and what changed here is written there."""
