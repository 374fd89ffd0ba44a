"""Tries every set of exact nodes of random models: the part that the oracles of the accuracy search share."""

import json
import sys

import numpy as np


def error(reference, value):
    if not np.isfinite(value).all():
        return None
    largest = np.abs(reference.astype(np.float64)).max()
    difference = np.abs(value.astype(np.float64) - reference).max()
    return float(difference / largest if largest > 0 else difference)


def answer_all(make, answer, most=32):
    """Writes a model for each line {"folder", "seed"} of stdin, and prints `answer(model, errors)` as a line of JSON.

    `make(seed)` gives a model with `names` of its nodes and `run(mask)`, its result with the nodes of a bit mask exact.
    One with more than `most` nodes, or whose FP32 result is not finite or means nothing, is drawn again.
    """
    for line in sys.stdin:
        job = json.loads(line)
        seed = job["seed"]
        while True:
            model = make(seed)
            sets = 1 << len(model.names)
            reference = model.run(sets - 1) if len(model.names) <= most else np.full(1, np.nan)
            if np.isfinite(reference).all() and 1e-6 < np.abs(reference).max() < 1e30:
                break
            seed += 1_000_003
        model.save(job["folder"])
        errors = [error(reference, model.run(mask)) for mask in range(sets)]
        print(json.dumps(answer(model, errors)), flush=True)
