from dashboard.runs import kinds
from projections.foreign.reset import ForeignReset, describe_reset
from projections.rebuild import Rebuild, describe_projection
from projections.reset import Reset

kinds.register(
    Rebuild(),
    queue="rebuilds",
    rest=kinds.Rest(
        "missing from the read model",
        "The read model holds what was handled so far. The projection is paused there, and goes on from there when "
        "somebody resumes the projection.",
    ),
)
kinds.register(Reset(), queue="rebuilds")
kinds.register(ForeignReset(), queue="rebuilds")
for kind in (Rebuild, Reset):
    kinds.add_panel(kind.name, kinds.Panel("projections/_run_of.html", describe_projection))
kinds.add_panel(ForeignReset.name, kinds.Panel("projections/_foreign_reset.html", describe_reset))
