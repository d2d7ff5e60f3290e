"""The server engine: a language model behind any OpenAI-compatible endpoint reads the reports.

Each report is one question, several under way at once over kept connections. An answer that
fails is asked for once more, in another way; what fails again, or never arrives, is `Failed` at
its place with the reason, and the batch goes on.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from extraction.engines import Modality
from extraction.engines.completion import Answer, Rejection
from extraction.engines.prompted import Asked, PromptedReader
from extraction.engines.settings import ServerSettings
from extraction.engines.transport import Completions
from extraction.errors import ServerOutageError
from extraction.finding import Failed, FailureReason, Outcome
from extraction.prompt import MARK, Prompts, regex
from extraction.vocabulary import Vocabulary

__all__ = ["ServerEngine", "ServerOutageError"]

_OUTAGE: Final[frozenset[FailureReason]] = frozenset(
    {"server unreachable", "server error", "request refused", "timed out"}
)

_ALWAYS_TOLERATED: Final = 2


class ServerEngine:
    """Reads reports with a model that a server runs.

    Parameters
    ----------
    settings
        Where the server is and how it may be asked.
    vocabulary, prompts
        None for the shipped ones.
    tolerated_outage
        Largest share of a batch that may fail for the server's sake before `ServerOutageError`
        is raised; two reports of a batch always may, all of them never. At 1, the default, nothing
        is raised. A job that keeps what it has read sets it, so that a night without a server is
        repeated and not remembered.
    """

    name = "server"

    def __init__(
        self,
        settings: ServerSettings,
        vocabulary: Vocabulary | None = None,
        prompts: Prompts | None = None,
        *,
        tolerated_outage: float = 1.0,
    ) -> None:
        self._settings = settings
        self._reader = PromptedReader(
            vocabulary,
            prompts,
            context_tokens=settings.context_tokens,
            answer_tokens=settings.answer_tokens,
        )
        self.vocabulary = self._reader.vocabulary
        self._tolerated = tolerated_outage
        self._regex = regex(self.vocabulary, mark=MARK) if settings.structured else ""
        asked = hashlib.sha256(f"{self._reader.digest}\0{self._regex}".encode()).hexdigest()[:16]
        self.version = f"{settings.model}+{asked}+{self.vocabulary.digest}"
        self._lock = threading.Lock()
        self._rejected: Counter[Rejection] = Counter()

    @property
    def rejected(self) -> dict[Rejection, int]:
        """Lines of all answers so far that were left out, by reason."""
        return dict(self._rejected)

    def extract(self, texts: Sequence[str], *, modality: Modality) -> list[Outcome]:
        """Read reports; see `extraction.engines.Engine.extract`.

        Raises
        ------
        ServerOutageError
            If the server failed a larger share of them than is tolerated.
        """
        if not texts:
            return []
        threads = min(self._settings.concurrency, len(texts))
        with Completions(self._settings) as server, ThreadPoolExecutor(threads) as pool:
            answers = list(pool.map(lambda text: self._safely(server, text, modality), texts))
        with self._lock:
            for answer in answers:
                self._rejected.update(answer.rejected)
        outcomes = [answer.outcome for answer in answers]
        self._check_outage(outcomes)
        return outcomes

    def _safely(self, server: Completions, text: object, modality: Modality) -> Answer:
        try:
            return self._answer(server, text, modality)
        except (RecursionError, MemoryError, ValueError, IndexError, KeyError, TypeError):
            return Answer(Failed("engine error"))

    def _answer(self, server: Completions, text: object, modality: Modality) -> Answer:
        answer = Answer(Failed("engine error"))
        for again in (False, True):
            asked = self._reader.ask(text, modality=modality, again=again)
            if isinstance(asked, Failed):
                return Answer(asked)
            answer = self._put(server, asked)
            if not isinstance(answer.outcome, Failed) or not _worth_asking(answer.outcome, server):
                return answer
        return answer

    def _put(self, server: Completions, asked: Asked) -> Answer:
        question: dict[str, object] = {
            "prompt": asked.prompt,
            "max_tokens": asked.max_tokens,
            "temperature": 0,
            "stop": [MARK],
        }
        if self._regex:
            question["structured_outputs"] = {"regex": self._regex}
        reply = server.ask(question)
        if isinstance(reply, str):
            return Answer(Failed(reply))
        return self._reader.read(asked, reply.text, cut=reply.cut)

    def _check_outage(self, outcomes: Sequence[Outcome]) -> None:
        failed = Counter(
            outcome.reason
            for outcome in outcomes
            if isinstance(outcome, Failed) and outcome.reason in _OUTAGE
        )
        tolerated = max(self._tolerated * len(outcomes), _ALWAYS_TOLERATED)
        if self._tolerated < 1 and (failed.total() > tolerated or failed.total() == len(outcomes)):
            counts = ", ".join(f"{reason}: {number}" for reason, number in failed.items())
            msg = (
                f"extraction server {self._settings.url}: {failed.total()} of {len(outcomes)} "
                f"reports got no answer ({counts}). Nothing of this batch was kept; check the "
                "server, the model's name and the key, and run again."
            )
            raise ServerOutageError(msg)


def _worth_asking(failed: Failed, server: Completions) -> bool:
    """Whether a second question may do better: the transport has made its own attempts."""
    if failed.reason == "timed out":
        return not server.ill
    return failed.reason not in _OUTAGE
