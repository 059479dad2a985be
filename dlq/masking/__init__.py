"""Values that most people must not see, at configured paths of the payload; one Masker serves every page.

A masked value is taken out of the error's text as well, when the letter is recorded: summary, title, fingerprint
and search words are made of the masked text, for everybody, so that none of them tells two values apart.
A letter that was recorded under other masking rules shows no text at all to those who may not unmask.
"""

from dlq.masking.masker import MaskedLetter, Masker
from dlq.masking.rules import HIDDEN, MASKED, UNMASKED, find_masked, get_masking, mask_error

__all__ = [
    "HIDDEN",
    "MASKED",
    "UNMASKED",
    "MaskedLetter",
    "Masker",
    "find_masked",
    "get_masking",
    "mask_error",
]
