from dashboard.runs import kinds
from projections.foreign.reset import ForeignReset, describe_reset
from projections.rebuild import Rebuild
from projections.reset import Reset

kinds.register(Rebuild())
kinds.register(Reset())
kinds.register(ForeignReset())
kinds.add_panel(ForeignReset.name, kinds.Panel("projections/_foreign_reset.html", describe_reset))
