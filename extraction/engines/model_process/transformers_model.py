"""The fallback: one question at a time through transformers, on a GPU or a processor.

What a question's prompt shares with the one before is not computed again, so the worked examples of
a batch are read once.
"""

from __future__ import annotations

import copy
import os
from collections import Counter, deque
from typing import Any


class TransformersModel:
    """One model in transformers; see `extraction.engines.model_process.Model`."""

    def __init__(self, settings: dict[str, Any]) -> None:
        os.environ.update({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1"})
        import torch
        import transformers

        device = "cuda" if torch.cuda.is_available() else "cpu"
        wanted = settings["dtype"]
        dtype = ("float32" if device == "cpu" else "bfloat16") if wanted == "auto" else wanted
        folder = settings["model"]
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.tokenizer, self._decoder = tokenizer, copy.deepcopy(tokenizer)  # a thread each
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), local_files_only=True, trust_remote_code=False
        )
        self._model = model.to(device).eval()
        self._model.generation_config = _without_habits(model.generation_config)
        self._context = min(
            settings["context_tokens"],
            getattr(model.config, "max_position_embeddings", settings["context_tokens"]),
        )
        self._waiting: deque[dict[str, Any]] = deque()
        self._read: list[int] = []
        self._cache: Any = None
        self._counted: Counter[str] = Counter()
        self.facts = {
            "engine": f"transformers {transformers.__version__}",
            "device": torch.cuda.get_device_name() if device == "cuda" else device,
            "dtype": dtype,
            "tensor_parallel": 1,
        }

    def add(self, question: dict[str, Any]) -> None:
        """Take a question with its tokens on; one that wants its answer bound is refused."""
        if question["regex"]:
            raise ValueError("answers cannot be bound here")
        if not 0 < len(question["tokens"]) < self._context:
            raise ValueError("the prompt does not fit")
        self._waiting.append(question)

    def busy(self) -> bool:
        """Whether a question is unfinished."""
        return bool(self._waiting)

    def counters(self) -> dict[str, float]:
        """Give what was computed, under the names that vLLM uses."""
        return {name: float(number) for name, number in self._counted.items()}

    def step(self) -> list[dict[str, Any]]:
        """Answer one question."""
        import torch

        question = self._waiting.popleft()
        tokens: list[int] = question["tokens"]
        cached = self._keep_shared(tokens)
        torch.manual_seed(question["seed"])
        with torch.inference_mode():
            found = self._model.generate(**self._asked(question, tokens))
        written = found.sequences[0, len(tokens) :].tolist()
        self._read = [*tokens, *written][: self._cache.get_seq_length()]
        self._counted.update(
            prefix_cache_queries=len(tokens), prefix_cache_hits=cached, prompt_tokens=len(tokens),
            generation_tokens=len(written), request_success=1,
        )  # fmt: skip
        text, ended = self._text(written, question["stop"])
        return [
            {
                "id": question["id"],
                "text": text,
                "cut": not ended,
                "tokens": [len(tokens), cached, len(written)],
                "logprobs": self._likeliest(found.logits, written, question["logprobs"]),
            }
        ]

    def _keep_shared(self, tokens: list[int]) -> int:
        """Cut the cache to what the prompt shares with what was read before; count it."""
        import transformers

        shared = 0
        for old, new in zip(self._read, tokens[:-1], strict=False):
            if old != new:
                break
            shared += 1
        if shared and self._cache is not None:
            surplus = self._cache.get_seq_length() - shared
            if surplus > 0:
                self._cache.crop(-surplus)
            if self._cache.get_seq_length() == shared:
                return shared
        self._cache = transformers.DynamicCache(config=self._model.config)
        return 0

    def _asked(self, question: dict[str, Any], tokens: list[int]) -> dict[str, Any]:
        import torch

        warm = question["temperature"] > 0
        ids = torch.tensor([tokens], device=self._model.device)
        pad = self._decoder.pad_token_id
        return {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "past_key_values": self._cache,
            "max_new_tokens": min(question["max_tokens"], self._context - len(tokens)),
            "do_sample": warm,
            "temperature": question["temperature"] if warm else None,
            "top_p": 1.0 if warm else None,
            "top_k": 0 if warm else None,
            "pad_token_id": self._decoder.eos_token_id if pad is None else pad,
            "return_dict_in_generate": True,
            "output_logits": question["logprobs"] > 0,
        } | ({"stop_strings": question["stop"], "tokenizer": self._decoder} if question["stop"]
             else {})  # fmt: skip

    def _text(self, written: list[int], stop: list[str]) -> tuple[str, bool]:
        """Decode an answer; say whether the model or a mark ended it."""
        ends = self._model.generation_config.eos_token_id
        known = set(ends if isinstance(ends, list) else [ends])
        text = self._decoder.decode(written, skip_special_tokens=True)
        places = [at for mark in stop if (at := text.find(mark)) >= 0]
        if places:
            return text[: min(places)], True
        return text, bool(written) and written[-1] in known

    def _likeliest(self, logits: Any, written: list[int], number: int) -> list[dict[str, float]]:
        """Give each place's tokens, the one written first."""
        import torch

        found = []
        for token, place in zip(written, logits or (), strict=False):
            logprobs = torch.log_softmax(place[0].float(), dim=-1)
            ids = [token, *logprobs.topk(number).indices.tolist()]
            found.append({self._decoder.decode([each]): float(logprobs[each]) for each in ids})
        return found


def _without_habits(given: Any) -> Any:
    """Keep only the marks of a model's generation settings: a penalty would change answers."""
    import transformers

    names = ("bos_token_id", "eos_token_id", "pad_token_id")
    return transformers.GenerationConfig(**{name: getattr(given, name) for name in names})
