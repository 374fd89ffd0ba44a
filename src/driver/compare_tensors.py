"""How far a tensor is from its reference."""

import numpy as np


def compare(name, reference, value):
    """
    {name, kind, shape, max, error, finite}: kind `float`, and error = max|d| / max|reference| (max|d| for an all-zero
    reference). value None: there is none, as if nothing in it were finite. finite: false where the value is not finite although the reference is, or not the same infinity or NaN;
    error is null then. For other types (kind `other`) error is the share of differing elements.
    """
    answer = {"name": name, "shape": list(reference.shape), "kind": "float", "max": None, "error": None, "finite": True}
    if value is None:
        if not is_float(reference):
            return {**answer, "kind": "other", "error": 1.0}
        return {**answer, "max": float(np.abs(reference[np.isfinite(reference)]).max(initial=0)), "finite": False}
    if reference.shape != value.shape:
        answer.update(finite=False, shapes=[list(reference.shape), list(value.shape)])
        return answer if is_float(reference) else {**answer, "kind": "other"}
    if not is_float(reference):
        share = float(np.mean(reference != value)) if reference.size else 0.0
        return {**answer, "kind": "other", "error": share}
    a, b = reference.astype(np.float64), value.astype(np.float64)
    known = np.isfinite(a)
    finite = bool(np.all(np.where(known, np.isfinite(b), (a == b) | (np.isnan(a) & np.isnan(b)))))
    largest = float(np.abs(a[known]).max(initial=0))
    answer.update(max=largest, finite=finite)
    if finite:
        difference = float(np.abs(b[known] - a[known]).max(initial=0))
        answer["error"] = difference / largest if largest > 0 else difference
    answer["nan"] = int(np.isnan(b).sum())
    answer["inf"] = int(np.isinf(b).sum())
    return answer


def is_float(array):
    return np.issubdtype(array.dtype, np.floating)
