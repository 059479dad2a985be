from dashboard.runs import kinds
from projections.foreign.reset import ForeignReset, describe_reset
from projections.rebuild import Rebuild
from projections.reset import Reset

kinds.register(Rebuild(), queue="rebuilds")
kinds.register(Reset(), queue="rebuilds")
kinds.register(ForeignReset(), queue="rebuilds")
kinds.add_panel(ForeignReset.name, kinds.Panel("projections/_foreign_reset.html", describe_reset))
