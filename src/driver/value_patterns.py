"""What a wrong tensor has in common with the right one: how large the error is, where it is, and its pattern. Needs NumPy.

A pattern is named only where it explains at least 99.9 % of the difference: what is left of it after the pattern is
applied to the reference is at most a thousandth of what it was, measured by the sum of the absolute differences.
"""

import itertools

import numpy as np

#: The share of the difference that a pattern has to explain.
EXPLAINED = 0.999
#: Larger tensors are not searched for another order of axes.
MOST = 1 << 22


def error_of(reference, value):
    """max|d| / max|reference| (max|d| where the reference is all zero); None: other shape, or not finite where it should be."""
    if reference.shape != value.shape:
        return None
    if reference.dtype.kind not in "fc":
        return float(np.mean(reference != value)) if reference.size else 0.0
    a, b = reference.astype(np.float64), value.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    if not np.isfinite(difference).all():
        return None
    largest = float(np.abs(a[np.isfinite(a)]).max(initial=0))
    worst = float(difference.max(initial=0))
    return worst / largest if largest > 0 else worst


def is_wrong(reference, value, tolerance, atol=None, rtol=None):
    """By error_of and a tolerance, or as Polygraphy does it where `atol` or `rtol` is given: |d| > atol + rtol·|reference|."""
    if atol is None and rtol is None:
        error = error_of(reference, value)
        return error is None or error > tolerance
    if reference.shape != value.shape:
        return True
    if reference.dtype.kind not in "fc":
        return not np.array_equal(reference, value)
    a, b = reference.astype(np.float64), value.astype(np.float64)
    with np.errstate(all="ignore"):
        right = (np.abs(a - b) <= (atol or 0) + (rtol or 0) * np.abs(a)) | (a == b) | (np.isnan(a) & np.isnan(b))
    return not right.all()


def describe(name, reference, value, others=None, previous=None):
    """
    {name, error, max, mean, median, p99, where, pattern, first}: error as `error_of`; max to p99 are absolute differences;
    where: [sentence parts by kind] (see `places`); pattern: {kind, value, explains} or None; first: the first values of both
    where they differ most. others: {name: array} of other tensors of the reference, which this one may be confused with;
    previous: what the same output was for the input before.
    """
    answer = {"name": name, "shape": list(reference.shape), "error": error_of(reference, value), "max": None, "mean": None,
              "median": None, "p99": None, "where": None, "pattern": None, "rows": [], "histogram": []}  # fmt: skip
    if reference.shape != value.shape:
        answer["shapes"] = [list(reference.shape), list(value.shape)]
        return answer
    if reference.size == 0 or reference.dtype.kind not in "fc":
        return answer
    a, b = reference.astype(np.float64), value.astype(np.float64)
    with np.errstate(all="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    finite = difference[np.isfinite(difference)]
    if finite.size:
        answer.update(max=float(finite.max()), mean=float(finite.mean()), median=float(np.median(finite)),
                      p99=float(np.quantile(finite, 0.99)))  # fmt: skip
    answer["where"] = places(difference)
    answer["pattern"] = pattern(a, b, difference, answer["where"], others or {}, previous)
    worst = np.argsort(np.nan_to_num(difference.ravel(), nan=np.inf))[::-1][:8]
    answer["rows"] = [
        {"at": [int(i) for i in np.unravel_index(int(at), a.shape)], "reference": number(a.ravel()[at]), "value": number(b.ravel()[at])}
        for at in worst
    ]
    answer["histogram"] = histogram(a[np.isfinite(a)], b[np.isfinite(b)])
    return answer


#: Ranges of a histogram.
RANGES = 12


def histogram(a, b):
    """[{from, to, reference, value}]: how many values of each are in a range, over the range of both; []: no range."""
    both = [array for array in (a, b) if array.size]
    low, high = (min(array.min() for array in both), max(array.max() for array in both)) if both else (0, 0)
    if not low < high or not np.isfinite(high - low):
        return []
    edges = np.linspace(low, high, RANGES + 1)
    counts = [np.histogram(array, edges)[0] for array in (a, b)]
    return [
        {"from": float(start), "to": float(end), "reference": int(one), "value": int(other)}
        for start, end, one, other in zip(edges, edges[1:], *counts)
    ]


def number(value):
    """JSON has no NaN and no infinity."""
    return float(value) if np.isfinite(value) else str(value)


def places(difference):
    """
    {kind: "all"} | {kind: "none"} | {kind: "axis", axis, from, to, size}: wrong only at indices from..to (included) of an
    axis (axis 0: batch, axis 1: channel, …) | {kind: "tail", axis, from, size}: only the last indices of an axis |
    {kind: "some", share}: the share of the elements. An element is wrong where it differs by more than a thousandth of the
    largest difference.
    """
    size = difference.size
    finite = difference[np.isfinite(difference)]
    largest = finite.max(initial=0)
    wrong = ~(difference <= max(largest * 1e-3, 0)) if largest > 0 or finite.size < size else np.zeros_like(difference, bool)
    count = int(wrong.sum())
    if count == 0:
        return {"kind": "none"}
    for axis in range(difference.ndim):
        length = difference.shape[axis]
        if length < 2:
            continue
        hit = np.flatnonzero(wrong.any(axis=tuple(i for i in range(difference.ndim) if i != axis)))
        low, high = int(hit[0]), int(hit[-1])
        if hit.size == high - low + 1 and hit.size < length:
            kind = "tail" if high == length - 1 and axis > 0 else "axis"
            return {"kind": kind, "axis": axis, "from": low, "to": high, "size": length}
    share = count / size
    return {"kind": "all"} if share > 0.98 else {"kind": "some", "share": share}


def pattern(a, b, difference, where, others, previous):
    """The first pattern that explains the difference; a, b: float64 of one shape; where: its place (`places`)."""
    total = float(np.nansum(np.where(np.isfinite(difference), difference, 0)))
    missing = ~np.isfinite(b) & np.isfinite(a)
    if missing.any():
        share = float(missing.mean())
        return {"kind": "not-finite", "value": share, "explains": 1.0}
    if total <= 0:
        return None

    def explains(guess):
        if guess.shape != b.shape:
            return 0.0
        with np.errstate(all="ignore"):
            left = np.abs(guess - b)
        left = float(np.where(np.isfinite(left), left, np.abs(b)).sum())
        return 1.0 - left / total

    def found(kind, value, guess):
        share = explains(guess)
        return {"kind": kind, "value": value, "explains": round(share, 6)} if share >= EXPLAINED else None

    if not b.any():
        return {"kind": "zeros", "value": None, "explains": 1.0}
    # A factor or an offset may hold in a part of the tensor only; outside of it the values are right.
    part = np.zeros(a.shape, bool)
    part[region(where)] = True
    known = part & np.isfinite(a) & np.isfinite(b)
    x, y = a[known], b[known]
    for make in (of_factor, of_offset):
        guess = make(x, y)
        if guess is not None:
            kind, value, apply = guess
            answer = found(kind, value, np.where(part, apply(a), a))
            if answer:
                return answer
    return (
        of_batch(a, b, found)
        or of_permutation(a, b, found)
        or of_tensors(a, b, others, previous, found)
        or of_shift(a, b, found)
        or of_rest(where)
        or {"kind": "other", "value": None, "explains": 0.0}
    )


def region(where):
    """The slices of what `places` found."""
    if where["kind"] not in ("axis", "tail"):
        return (slice(None),)
    last = where.get("to", where["size"] - 1)
    return (slice(None),) * where["axis"] + (slice(where["from"], last + 1),)


def of_rest(where):
    """Nothing explains the values, but whole samples of a batch are right and the others are wrong."""
    if where["kind"] != "axis" or where["axis"] != 0:
        return None
    return {"kind": "batch", "value": list(range(where["from"], where["to"] + 1)), "explains": 1.0}


def of_factor(x, y):
    """b = factor · a, by least absolute weight: the median of the quotients where a is not small."""
    large = np.abs(x) > np.abs(x).max(initial=0) * 1e-3
    if large.sum() < min(4, x.size) or x.size == 0:
        return None
    factor = float(np.median(y[large] / x[large]))
    if abs(factor - 1) < 1e-6 or factor == 0:
        return None
    return "factor", factor, lambda a: a * factor


def of_offset(x, y):
    if x.size < 4:
        return None
    offset = float(np.median(y - x))
    return None if offset == 0 else ("offset", offset, lambda a: a + offset)


def of_batch(a, b, found):
    """Every index of the first axis has what another index has in the reference: [index of the reference by index]."""
    if a.ndim < 2 or not 2 <= a.shape[0] <= 64:
        return None
    origin = []
    for index in range(a.shape[0]):
        with np.errstate(all="ignore"):
            distances = np.abs(a - b[index]).reshape(a.shape[0], -1).sum(axis=1)
        if not np.isfinite(distances).any():
            return None
        # Its own place where that is as near as any other.
        best = int(np.nanargmin(distances))
        origin.append(index if distances[index] <= distances[best] else best)
    if origin == list(range(a.shape[0])):
        return None
    return found("batch", origin, a[origin])


def of_permutation(a, b, found):
    """The values of another order of axes, read as this shape: a transposition that was lost or made twice."""
    if not 2 <= a.ndim <= 5 or a.size > MOST or not same_values(a, b):
        return None
    for order in itertools.permutations(range(a.ndim)):
        if order == tuple(range(a.ndim)):
            continue
        answer = found("permuted-axis", list(order), np.ascontiguousarray(a.transpose(order)).reshape(a.shape))
        if answer:
            return answer
        # Right values of a transposed shape, written as if they had been in this one.
        shape = tuple(a.shape[axis] for axis in order)
        back = np.argsort(order)
        answer = found("permuted-axis", list(order), a.reshape(shape).transpose(back)) if shape != a.shape else None
        if answer:
            return answer
    return None


def same_values(a, b):
    """Whether both hold the same values in any order, as far as sums show it: what no permutation can explain is not tried."""
    x, y = np.sort(a, axis=None), np.sort(b, axis=None)
    return bool(np.abs(x - y).sum() <= (1 - EXPLAINED) * np.abs(a - b).sum())


def of_tensors(a, b, others, previous, found):
    """Another tensor's values, or those of the run before."""
    if previous is not None and previous.shape == b.shape:
        answer = found("stale", None, previous.astype(np.float64))
        if answer:
            return answer
    for name, other in others.items():
        if other.size != b.size or other.dtype.kind not in "fiub":
            continue
        answer = found("swapped", name, other.astype(np.float64).reshape(b.shape))
        if answer:
            return answer
    return None


def of_shift(a, b, found):
    """The values of the neighbors along an axis."""
    for axis in range(a.ndim):
        for step in (-1, 1):
            if a.shape[axis] > 1:
                answer = found("shifted", {"axis": axis, "by": step}, np.roll(a, step, axis))
                if answer:
                    return answer
    return None
