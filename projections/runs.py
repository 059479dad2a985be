from dashboard.runs import kinds
from projections.rebuild import Rebuild
from projections.reset import Reset

kinds.register(Rebuild())
kinds.register(Reset())
