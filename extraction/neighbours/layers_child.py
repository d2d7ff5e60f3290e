"""Run by a Python that has torch and transformers: cases in, predictions after every layer out.

Started as a script with two paths, of the JSON that says what to do and of the .npz to write. One
pass records what every block puts out; then the model runs once per layer with its blocks replaced
by that record, so that its own last norm, pooler and head read the layer (the logit lens). The last
layer read so must give the model's own answer, or nothing is written.

Imports nothing of this package: its Python may have none of our libraries.
"""

# mypy: disable-error-code="no-untyped-call,misc"
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_CLOSE = 1e-3
_EVERY = 50


def main() -> None:
    """Read the order, predict, write the arrays; say on standard output what went wrong."""
    order = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        import numpy as np

        arrays, classes = _predict(order)
        np.savez(sys.argv[2], **arrays)
        sys.stdout.write(json.dumps({"classes": classes}) + "\n")
    except Exception as error:  # noqa: BLE001 - a process boundary: the parent gives the reason
        reason = " ".join(str(error).split())[:400]
        sys.stdout.write(json.dumps({"failed": f"{type(error).__name__}: {reason}"}) + "\n")


def _predict(order: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    import numpy as np
    import torch
    import transformers

    torch.manual_seed(0)
    choosing = order["task"] == "choose"
    kind = "AutoModelForCausalLM" if choosing else "AutoModelForSequenceClassification"
    folder = order["model"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = getattr(transformers, kind).from_pretrained(folder, local_files_only=True)
    model = model.float().eval().to(order["device"])
    stack, name = _blocks(model, model.config.num_hidden_layers)
    letters = _letter_tokens(tokenizer, order["options"]) if choosing else None
    layers, final = [], []
    with torch.inference_mode():
        for number, texts in enumerate(order["texts"]):
            inputs = tokenizer(*texts, return_tensors="pt", truncation=not choosing)
            scores = _layer_scores(model, stack, name, inputs.to(order["device"]), letters)
            layers.append(scores.argmax(-1).cpu().numpy())
            final.append(torch.softmax(scores[-1].double(), -1).cpu().numpy())
            if number % _EVERY == 0:
                sys.stderr.write(f"\r{number + 1} of {len(order['texts'])} cases")
    sys.stderr.write("\n")
    classes = order["options"] or [model.config.id2label[k] for k in range(len(final[0]))]
    return {"probs": np.stack(final), "layers": np.stack(layers, axis=1)}, classes


def _blocks(model: Any, count: int) -> tuple[Any, str]:
    """Find the module that holds the stack of layers, and under which name."""
    import torch

    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, torch.nn.ModuleList) and len(child) == count:
                return module, name
    raise ValueError(f"no stack of {count} layers found in this architecture")


def _letter_tokens(tokenizer: Any, letters: list[str]) -> list[int]:
    found = [tokenizer.encode(f" {letter}", add_special_tokens=False)[-1] for letter in letters]
    if len(set(found)) < len(letters):
        raise ValueError("the tokenizer has not one token for each letter of the options")
    return found


def _layer_scores(model: Any, stack: Any, name: str, inputs: Any, letters: Any) -> Any:
    """Scores of the classes after every layer, shape (T, C)."""
    import torch

    blocks = getattr(stack, name)
    recorded: list[Any] = []
    hooks = [b.register_forward_hook(lambda *args: recorded.append(args[2])) for b in blocks]
    whole = _scores(model, inputs, letters)
    for hook in hooks:
        hook.remove()
    if len(recorded) != len(blocks):
        raise ValueError(f"{len(recorded)} outputs of {len(blocks)} layers were recorded")
    found = []
    try:
        for block, output in zip(blocks, recorded, strict=True):
            setattr(stack, name, torch.nn.ModuleList([_replay(block, output)]))
            found.append(_scores(model, inputs, letters))
    finally:
        setattr(stack, name, blocks)
    if not torch.allclose(found[-1], whole, atol=_CLOSE, rtol=_CLOSE):
        raise ValueError(
            "the last layer does not give the model's own answer; this architecture cannot be read"
        )
    return torch.stack(found)


def _scores(model: Any, inputs: Any, letters: Any) -> Any:
    options = {"use_cache": False} if letters is not None else {}
    logits = model(**inputs, **options).logits
    return logits[0] if letters is None else logits[0, -1, letters]


def _replay(block: Any, output: Any) -> Any:
    """Make a layer that puts out a record, and otherwise looks like the layer it stands for."""
    import torch

    class Replay(torch.nn.Module):
        def forward(self, *_: Any, **__: Any) -> Any:
            return output

        def __getattr__(self, name: str) -> Any:
            return getattr(block, name)

    return Replay()


if __name__ == "__main__":
    main()
