"""How far a tensor is from its reference."""

import numpy as np

import output_measures

#: Channels whose ranges differ by more than this are compared with their own range.
APART = 10
#: Fewer elements than these in a channel are no range, but single numbers.
ELEMENTS = 16
#: A smaller share of channels belongs to the group above it: unused channels are noise around 0.
SHARE = 0.02
#: No channel is measured more finely than by this share of the largest value.
FLOOR = 1e-4


class Reference:
    """A reference, and what of it all its comparisons share. measures: see `compare`."""

    def __init__(self, array, measure=None, others=None):
        self.array, self.measure, self.others = array, measure, others or {}
        self.is_float = is_float(array)
        if not self.is_float:
            return
        self.values = array.astype(np.float64)
        self.known = np.isfinite(self.values)
        self.largest = float(np.abs(self.values[self.known]).max(initial=0))
        self.groups = groups(np.where(self.known, np.abs(self.values), 0), self.values)


def compare(name, reference, value, others=None, tie=0.0, brief=False):
    """
    {name, kind, shape, max, error, finite}: kind `float`, and error = max|d| / max|reference| (max|d| for an all-zero
    reference), of each group of channels whose ranges are far apart, with `groups` where there are several. value None:
    there is none, as if nothing in it were finite. finite: false where the value is not finite although the reference
    is, or not the same infinity or NaN; error is null then. For other types (kind `other`) error is the share of
    differing elements.

    reference: an array, or a Reference with the measure of this output, {"kind", "by"} and what the kind needs (see
    `output_measures.py`); others: this run's outputs by name; tie: how close two choices are equally good. The answer
    has `numeric`, the error as above, and `measure`; the error is that of the measure where the output is judged
    by it; `share`: it is a share of choices. brief: without a measure that does not count.
    """
    if not isinstance(reference, Reference):
        reference = Reference(reference)
    answer = plain(name, reference, value)
    spec = reference.measure
    if spec is None or (brief and spec["by"] == "numeric"):
        return answer
    measured = output_measures.measure(spec, reference, value, others or {}, tie) if value is not None else None
    answer["numeric"] = answer["error"]
    answer["measure"] = measured
    if spec["by"] == "measure" and measured is not None:
        answer["error"] = measured["error"]
        # Another order or number of elements is what the measure is for.
        if "shapes" in answer:
            answer["finite"] = True
        answer["finite"] = answer["finite"] and measured["error"] is not None
        answer["share"] = "wrong" in measured
    return answer


def plain(name, reference, value):
    array = reference.array
    answer = {"name": name, "shape": list(array.shape), "kind": "float", "max": None, "error": None, "finite": True}
    if value is None:
        if not reference.is_float:
            return {**answer, "kind": "other", "error": 1.0}
        return {**answer, "max": reference.largest, "finite": False}
    if array.shape != value.shape:
        answer.update(finite=False, shapes=[list(array.shape), list(value.shape)])
        return answer if reference.is_float else {**answer, "kind": "other"}
    if not reference.is_float:
        share = float(np.mean(array != value)) if array.size else 0.0
        return {**answer, "kind": "other", "error": share}
    a, b, known = reference.values, value.astype(np.float64), reference.known
    finite = bool(np.all(np.where(known, np.isfinite(b), (a == b) | (np.isnan(a) & np.isnan(b)))))
    answer.update(max=reference.largest, finite=finite)
    if finite:
        if reference.groups is None:
            answer["error"] = relative(float(np.abs(b[known] - a[known]).max(initial=0)), reference.largest)
        else:
            answer.update(by_group(reference, np.where(known, np.abs(b - a), 0)))
    answer["nan"] = int(np.isnan(b).sum())
    answer["inf"] = int(np.isinf(b).sum())
    return answer


def relative(difference, largest):
    return difference / largest if largest > 0 else difference


def by_group(reference, differences):
    axis, members = reference.groups
    each = along(differences, axis)
    found = []
    for channels, largest in members:
        floor = max(largest, FLOOR * reference.largest)
        found.append({"channels": channels, "max": largest, "error": relative(float(each[channels].max()), floor)})
    worst = max(one["error"] for one in found)
    described = [{**one, "channels": ranges(one["channels"]), "axis": axis} for one in found]
    return {"error": worst, "groups": described}


def groups(sizes, values):
    """
    (axis, [(channels, largest)]): the channels of a tensor where their ranges fall into groups that are more than APART
    times apart, from the largest; None: they do not. Boxes of 0 to 640 and scores of 0 to 1 in one tensor, for example.
    """
    # Probabilities share one range, whatever is in it.
    if sizes.size == 0 or (values.min() >= 0 and values.max() <= 1):
        return None
    for axis in channel_axes(sizes.shape):
        count = sizes.shape[axis]
        if count < 2 or sizes.size // count < ELEMENTS:
            continue
        largest = along(sizes, axis)
        order = np.argsort(-largest, kind="stable")
        sorted_sizes = largest[order]
        if sorted_sizes[0] <= APART * sorted_sizes[-1]:
            continue
        some = np.count_nonzero(sorted_sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = [i + 1 for i in range(some - 1) if sorted_sizes[i] > APART * sorted_sizes[i + 1]]
        # From below: a group of few channels belongs to the one above; the few of the top stand alone.
        starts, end = [], count
        for cut in reversed(cuts):
            if end - cut >= SHARE * count:
                starts.append(cut)
                end = cut
        if starts:
            bounds = [0, *reversed(starts), count]
            return axis, [(sorted(order[i:j].tolist()), float(sorted_sizes[i])) for i, j in zip(bounds, bounds[1:])]
    return None


def channel_axes(shape):
    """Axes that may be those of channels, the likeliest first; the first axis is the batch."""
    rank = len(shape)
    if rank < 2:
        return []
    if rank == 2:
        return [1]
    if rank == 3:
        return [1, 2] if shape[1] <= shape[2] else [2, 1]
    if rank == 4:
        # As many rows as columns tell where the channels are.
        return [3] if shape[1] == shape[2] != shape[3] else [1]
    return [rank - 1]


def along(array, axis):
    """The largest of each channel."""
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1).max(axis=1)


def ranges(numbers):
    """[[0, 3], [5, 5]]: consecutive numbers, both ends included"""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def is_float(array):
    return np.issubdtype(array.dtype, np.floating)
