"""The program that holds a model: it runs under the model's own Python and imports nothing of ours.

    settings, one line of JSON        →  ready, or failed and why
    question, question, …             →  answers as they are finished, and the engine's counters
    end of input                      →  it frees the model and ends

Only the standard library stands at the top of its modules; vLLM, or torch and transformers, are
imported where they are used. It is started by `extraction.engines.child` with ``python -I`` and
this folder's parent at the end of the path, so that no module of ours stands in for one of theirs.

Whatever a model's libraries print goes to standard error: the answers have the original standard
output to themselves. No message holds a word of a prompt, save that a model which cannot be loaded
says why, and at that time no prompt has been seen.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol, TextIO, TypeAlias

__all__ = ["Model", "main"]

_LONGEST_MESSAGE = 1_500
_GRACE_SECONDS = 20.0
_SIGN_OF_LIFE_SECONDS = 5.0
_MOST_AT_ONCE = 64

_Waiting: TypeAlias = "queue.SimpleQueue[dict[str, Any] | None]"


class Model(Protocol):
    """What a back end offers the loop."""

    facts: dict[str, Any]
    tokenizer: Any  # a copy of the back end's own: used on a thread beside the steps

    def add(self, question: dict[str, Any]) -> None:
        """Take a question with its tokens on; ValueError if it cannot be asked."""

    def step(self) -> list[dict[str, Any]]:
        """Work on what was taken on; give the answers that are finished."""

    def busy(self) -> bool:
        """Whether a question is unfinished."""

    def counters(self) -> dict[str, float]:
        """Give what the engine counts of itself."""


def main() -> None:
    """Serve questions until the input ends."""
    answers = _own_output()
    settings = json.loads(sys.stdin.readline())
    try:
        model = _load(settings)
    except BaseException as error:  # noqa: BLE001 (also SystemExit of a library)
        _send(answers, {"failed": type(error).__name__, "why": str(error)[:_LONGEST_MESSAGE]})
        return
    _send(answers, {"ready": model.facts})
    try:
        _serve(model, answers)
    except BaseException as error:
        _send(answers, {"died": type(error).__name__})
        raise


def _serve(model: Model, answers: TextIO) -> None:
    waiting: _Waiting = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(model, waiting), daemon=True).start()
    spoke = time.monotonic()
    while True:
        for question in _taken(waiting, wait=not model.busy()):
            if question is None:
                return
            try:
                model.add(question)
            except (ValueError, TypeError):
                _send(answers, {"id": question["id"], "refused": True})
        finished = model.step() if model.busy() else []
        if finished and not model.busy():
            _send(answers, {"counters": model.counters()})
        for answer in finished:
            _send(answers, answer)
        if finished:
            spoke = time.monotonic()
        elif time.monotonic() - spoke > _SIGN_OF_LIFE_SECONDS:
            spoke = time.monotonic()
            _send(answers, {"alive": True})


def _receive(model: Model, waiting: _Waiting) -> None:
    """Queue what arrives; when the input ends, see to it that the process ends soon."""
    for line in sys.stdin:
        question = json.loads(line)
        try:
            question["tokens"] = _tokens(question, model.tokenizer)
        except Exception:  # noqa: BLE001 (a prompt that cannot be read is refused, not fatal)
            question["tokens"] = []
        waiting.put(question)
    waiting.put(None)
    watch = threading.Timer(_GRACE_SECONDS, os._exit, [1])
    watch.daemon = True
    watch.start()


def _tokens(question: dict[str, Any], tokenizer: Any) -> list[int]:
    """Give the tokens of a text, or of turns in the words of the model's chat template."""
    if not question.get("turns"):
        return list(tokenizer.encode(question["prompt"]))
    turns = [{"role": role, "content": text} for role, text in question["turns"]]
    text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    return list(tokenizer.encode(text, add_special_tokens=False))


def _taken(waiting: _Waiting, *, wait: bool) -> Iterator[dict[str, Any] | None]:
    """Give what is queued, but not so much that the next step has to wait; one if asked to."""
    if wait:
        yield waiting.get()
    for _ in range(_MOST_AT_ONCE):
        try:
            yield waiting.get_nowait()
        except queue.Empty:
            return


def _load(settings: dict[str, Any]) -> Model:
    if settings["backend"] == "vllm":
        from .vllm_model import VllmModel

        return VllmModel(settings)
    from .transformers_model import TransformersModel

    return TransformersModel(settings)


def _own_output() -> TextIO:
    """Keep standard output for answers, and send what others print there to standard error."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    return own


def _send(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()
