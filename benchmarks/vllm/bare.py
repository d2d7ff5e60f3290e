"""Bare vLLM on questions from a file; run under its own Python by ``gpu.py``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def parameters(question: dict[str, Any]) -> Any:
    """Ask as the pipeline asks."""
    import vllm
    from vllm.sampling_params import StructuredOutputsParams

    bound = StructuredOutputsParams(regex=question["regex"]) if question["regex"] else None
    return vllm.SamplingParams(
        max_tokens=question["max_tokens"],
        temperature=0,
        stop=question["stop"],
        structured_outputs=bound,
    )


def main() -> None:
    """Load, warm up, answer everything in one call, and print tokens and seconds."""
    sys.path.append(sys.argv[1])
    from model_process.vllm_model import VllmModel

    job = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    llm = VllmModel(job["settings"])._llm

    def run(asked: list[dict[str, Any]]) -> list[Any]:
        prompts = [question["prompt"] for question in asked]
        return llm.generate(prompts, [parameters(question) for question in asked], use_tqdm=False)

    run(job["questions"][: job["warm_up"]])
    began = time.perf_counter()
    found = run(job["questions"][job["warm_up"] :])
    result = {
        "seconds": time.perf_counter() - began,
        "written": sum(len(each.outputs[0].token_ids) for each in found),
        "read": sum(len(each.prompt_token_ids) for each in found),
    }
    print("RESULT", json.dumps(result))


if __name__ == "__main__":
    main()
