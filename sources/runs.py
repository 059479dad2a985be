"""The kinds of runs over sources."""

from dashboard.runs import kinds
from sources.sync.importing import Import

kinds.register(Import())
