"""vLLM's engine, stepped by hand, so that questions may join while others are under way.

Offline, greedy unless asked otherwise, prefixes cached, answers bound by regular expressions. On a
processor without a GPU the engine stays in this process and computes in float32.
"""

from __future__ import annotations

import copy
import os
from typing import Any

_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
}
_ON_A_PROCESSOR = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "4",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
_COUNTED = ("prefix_cache_queries", "prefix_cache_hits", "prompt_tokens", "generation_tokens",
            "request_success", "num_preemptions")  # fmt: skip


class VllmModel:
    """One model in vLLM; see `extraction.engines.model_process.Model`."""

    def __init__(self, settings: dict[str, Any]) -> None:
        os.environ.update(_OFFLINE)
        from vllm.platforms import current_platform

        on_processor = bool(current_platform.is_cpu())
        if on_processor:
            for name, value in _ON_A_PROCESSOR.items():
                os.environ.setdefault(name, value)
            _without_compiler()
        import vllm

        options = _options(settings, on_processor=on_processor)
        llm = vllm.LLM(**options)
        self._llm, self._engine = llm, llm.llm_engine
        self.tokenizer = copy.deepcopy(llm.get_tokenizer())  # used on another thread
        self.facts = {
            "engine": f"vllm {vllm.__version__}",
            "device": "cpu" if on_processor else str(current_platform.get_device_name()),
            "dtype": options["dtype"],
            "tensor_parallel": options["tensor_parallel_size"],
        }

    def add(self, question: dict[str, Any]) -> None:
        """Take a question with its tokens on; one that vLLM does not accept is a ValueError."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams
        from vllm.v1.engine.exceptions import EngineDeadError

        bound = StructuredOutputsParams(regex=question["regex"]) if question["regex"] else None
        parameters = SamplingParams(
            max_tokens=question["max_tokens"],
            temperature=question["temperature"],
            seed=question["seed"],
            n=1,
            top_p=1.0,
            top_k=-1,
            min_p=0.0,
            repetition_penalty=1.0,
            presence_penalty=0.0,
            frequency_penalty=0.0,
            stop=question["stop"],
            logprobs=question["logprobs"] or None,
            structured_outputs=bound,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        try:
            prompt = {"prompt_token_ids": question["tokens"]}
            self._engine.add_request(str(question["id"]), prompt, parameters)
        except EngineDeadError:
            raise
        except Exception as error:  # noqa: BLE001 (its own tree of refusals)
            raise ValueError(type(error).__name__) from None

    def step(self) -> list[dict[str, Any]]:
        """Compute one step of all questions under way."""
        return [_answer(output) for output in self._engine.step() if output.finished]

    def busy(self) -> bool:
        """Whether a question is unfinished."""
        return bool(self._engine.has_unfinished_requests())

    def counters(self) -> dict[str, float]:
        """Give vLLM's own counters, without their prefix."""
        found: dict[str, float] = {}
        for metric in self._llm.get_metrics():
            name = metric.name.removeprefix("vllm:")
            if name in _COUNTED:
                found[name] = found.get(name, 0.0) + float(metric.value)
        return found


def _without_compiler() -> None:
    """Keep torch from compiling kernels: on a processor that needs a C++ compiler and time."""
    import torch._dynamo.config

    torch._dynamo.config.disable = True
    os.environ["TORCH_COMPILE_DISABLE"] = "1"


def _options(settings: dict[str, Any], *, on_processor: bool) -> dict[str, Any]:
    wanted = settings["dtype"]
    shared = {
        "model": settings["model"],
        "dtype": ("float32" if on_processor else "bfloat16") if wanted == "auto" else wanted,
        "max_model_len": settings["context_tokens"],
        "kv_cache_dtype": settings["cache"],
        "tensor_parallel_size": settings["tensor_parallel"],
        "enable_prefix_caching": True,
        "load_format": settings["load_format"],
        "seed": 0,
        "trust_remote_code": False,
        "disable_log_stats": False,
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    if settings["max_sequences"]:
        shared["max_num_seqs"] = settings["max_sequences"]
    if settings["weights"] == "fp8":
        shared["quantization"] = "fp8"
    if on_processor:
        return shared | {"gpu_memory_utilization": 0.05, "enforce_eager": True}
    return shared | {"gpu_memory_utilization": settings["memory_share"]}


def _answer(output: Any) -> dict[str, Any]:
    completion = output.outputs[0]
    return {
        "id": int(output.request_id),
        "text": completion.text,
        "cut": completion.finish_reason == "length",
        "tokens": [
            len(output.prompt_token_ids or ()),
            output.num_cached_tokens or 0,
            len(completion.token_ids),
        ],
        "logprobs": [
            {entry.decoded_token: entry.logprob for entry in (place[written], *place.values())}
            for written, place in zip(completion.token_ids, completion.logprobs or (), strict=False)
        ],
    }
