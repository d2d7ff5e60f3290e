"""Count tokens of texts from standard input by Llama 3's own tokenizer, under vLLM's Python."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import tiktoken
from tiktoken.load import load_tiktoken_bpe

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Llama 3 parts a text before pairs are merged, from its makers' own code."""


def main() -> None:
    """Read a list of texts, print the list of their tokens' numbers."""
    found = find_spec("llama_models")
    if found is None or not found.submodule_search_locations:
        sys.exit("llama-models is not installed here; `make install-vllm-test` does it")
    model = Path(found.submodule_search_locations[0]) / "llama3" / "tokenizer.model"
    ranks = load_tiktoken_bpe(str(model))
    encoding = tiktoken.Encoding(
        "llama3", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
    print(json.dumps([len(encoding.encode_ordinary(text)) for text in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
