"""Which phrase to say instead: costs, maps with a certificate, guard-rails, held-out effect."""

from calibration.substitution.advice import Advice, advise
from calibration.substitution.cost import SubstitutionMap
from calibration.substitution.effect import HeldOutEffect, held_out_effect, split_effect
from calibration.substitution.guardrails import GuardRails
from calibration.substitution.suggestion import Suggestion, Suppressed
from calibration.substitution.transport import Regularisation, transport_map

__all__ = [
    "Advice", "GuardRails", "HeldOutEffect", "Regularisation", "SubstitutionMap", "Suggestion",
    "Suppressed", "advise", "held_out_effect", "split_effect", "transport_map",
]  # fmt: skip
