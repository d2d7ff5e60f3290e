"""What a model answered, kept beside the findings, and the gate that holds it against the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.cli.extraction_options import Held
from pipeline.errors import GateFailedError

if TYPE_CHECKING:
    from extraction.engines.account import Answer

__all__ = ["hold_against_words", "keep_answers"]


def keep_answers(ids: Sequence[str], read: Sequence[Answer], held: Held) -> None:
    """Write the lines of all answers, and the queue for review, where they are asked for."""
    from extraction.tables import answer_table, queue_table
    from pipeline.formats.tables import write_table

    if held.answers is not None:
        write_table(answer_table(ids, read), held.answers)
    if held.queue is not None:
        write_table(queue_table(ids, read), held.queue)


def hold_against_words(read: Sequence[Answer], *, limit: float) -> None:
    """Pass the gate on disagreement.

    Raises
    ------
    GateFailedError
        If model and vocabulary part over a larger share than is allowed.
    """
    from extraction.engines.account import Disagreement

    found = sum((answer.disagreement for answer in read), Disagreement())
    if found.share is not None and found.share > limit:
        msg = (
            f"the model and the vocabulary part over {found.parted:,} of {found.compared:,} "
            f"statements and sentences ({found.share:.1%}; allowed {limit:.1%}): "
            f"{found.unsupported:,} not carried by the quoted words, {found.contradicted:,} "
            f"contradicted by them, {found.uncovered:,} sentences that state something and have "
            "no line. No findings were written; see --answers and --queue, or raise "
            "--max-disagreement if people found the model right."
        )
        raise GateFailedError(msg)
