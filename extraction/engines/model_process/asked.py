"""From a question to tokens: a text as it is, turns in the words of the chat template."""

from __future__ import annotations

from typing import Any

__all__ = ["tokens_of"]


def tokens_of(question: dict[str, Any], tokenizer: Any) -> list[int]:
    """Give a question's tokens; a tokenizer without a template refuses turns with a ValueError."""
    if not question.get("turns"):
        return list(tokenizer.encode(question["prompt"]))
    turns = [{"role": role, "content": text} for role, text in question["turns"]]
    text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    return list(tokenizer.encode(text, add_special_tokens=False))
