from dataclasses import dataclass

from dlq.models.words import Category, Tier

# What the console offers first, by category (requirements C2, A5, A7).
ACTIONS = {
    Category.TRANSIENT: "Trying again may well work now.",
    Category.PERMANENT: "Needs a fix first; the same event will fail in the same way.",
    Category.POISON: "Set apart: the event itself breaks its consumer. Find out why before it is replayed.",
    Category.DEPENDENCY: "Trying again may well work once the other service answers.",
    Category.INFRASTRUCTURE: "Mend the infrastructure; its consumers go on by themselves.",
}


@dataclass(frozen=True)
class Verdict:
    """A category, the rule that chose it, and what follows from it."""

    category: Category
    rule: str
    # Client errors and refused credentials fail again until somebody acts.
    offers_replay: bool = True
    is_security: bool = False

    @property
    def tier(self) -> Tier:
        return Tier.POISON if self.category == Category.POISON else Tier.DEAD_LETTER

    @property
    def advice(self) -> str:
        if self.offers_replay or self.category == Category.INFRASTRUCTURE:
            return ACTIONS[self.category]
        return "Not to be sent again as it is."
