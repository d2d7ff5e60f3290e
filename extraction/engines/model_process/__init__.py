"""The program that holds a model: it runs under the model's own Python and imports nothing of ours.

    settings, one line of JSON        →  ready, or failed and why
    question, question, …             →  answers as they are finished, and the engine's counters
    end of input                      →  it frees the model and ends

Only the standard library stands at the top of its modules; vLLM, or torch and transformers, are
imported where they are used. It is started by `extraction.engines.child` with ``python -I`` and
this folder's parent at the end of the path, so that no module of ours stands in for one of theirs.
"""
