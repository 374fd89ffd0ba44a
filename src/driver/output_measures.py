"""What a user of an output looks at: the chosen class, matched boxes, regions, tokens. Needs NumPy.

A measure is {"kind", ...}; what it finds is {"error", ...}: 0 is perfect, and what else is in it is for people. Where
two choices are as good as equal in the reference (within the tolerance, as an error of the scores would be), the choice
of the other one is no error: `ties` counts them.

  top1, tokens   axis          the largest element along the axis; error: share of the choices that differ
  iou            axis or null  the class of each position (null: the values are classes); error: 1 - mean IoU of the classes
  boxes          scores, labels, axis, aligned   see `boxes`
  cosine         axis          error: 1 - the smallest cosine
  set            axis          the same elements in another order or number; error: mean difference of the sorted elements
  elements                     error: share of elements that differ
"""

import numpy as np

#: Boxes with a smaller score are not looked at, where some have a larger one.
SCORE = 0.25
#: A box with a smaller overlap is another box.
OVERLAP = 0.5
MOST_BOXES = 300


def measure(spec, reference, value, others, tie):
    """None where the shapes do not allow it."""
    kind = spec["kind"]
    a, b = reference.array, value
    if kind == "numeric":
        return None
    if kind == "boxes":
        return None if "layout" not in spec else boxes(spec, reference, value, others, tie)
    if kind == "set":
        return of_set(a, b)
    if a.shape != b.shape or a.size == 0:
        return None
    if kind == "elements":
        return {"error": float(np.mean(a != b)), "count": int(a.size)}
    axis = spec.get("axis")
    if axis is not None and not -a.ndim <= axis < a.ndim:
        return None
    if kind in ("top1", "tokens"):
        return choices(a, b, axis, tie)
    if kind == "iou":
        return regions(a, b, axis, tie)
    if kind == "cosine":
        return cosine(a, b, axis)
    return None


def chosen(a, b, axis, tie):
    """(choice of a, choice of b, positions where the difference is a tie in a)"""
    x = np.moveaxis(np.asarray(a, np.float64), axis, -1)
    y = np.moveaxis(np.asarray(b, np.float64), axis, -1)
    one, other = x.argmax(-1), y.argmax(-1)
    best = np.take_along_axis(x, one[..., None], -1)[..., 0]
    rival = np.take_along_axis(x, other[..., None], -1)[..., 0]
    size = np.abs(x[np.isfinite(x)]).max(initial=0)
    # Two scores may be off by the tolerance each.
    ties = (one != other) & (best - rival <= 2 * tie * size) & np.isfinite(y).all(-1)
    return one, other, ties


def choices(a, b, axis, tie):
    one, other, ties = chosen(a, b, axis, tie)
    wrong = (one != other) & ~ties
    return {"error": float(wrong.mean()), "count": int(wrong.size), "wrong": int(wrong.sum()), "ties": int(ties.sum())}


def regions(a, b, axis, tie):
    if axis is None:
        one, other, ties = a, b, np.zeros(a.shape, bool)
    else:
        one, other, ties = chosen(a, b, axis, tie)
    other = np.where(ties, one, other)
    found = []
    for label in np.unique(one):
        mine, its = one == label, other == label
        found.append((float((mine & its).sum() / (mine | its).sum()), int(label)))
    worst, label = min(found)
    mean = float(np.mean([iou for iou, _ in found]))
    return {"error": 1 - mean, "count": len(found), "iou": mean, "worst": worst, "label": label, "ties": int(ties.sum())}


def cosine(a, b, axis):
    x = np.moveaxis(a.astype(np.float64), axis, -1)
    y = np.moveaxis(b.astype(np.float64), axis, -1)
    if not np.isfinite(y).all():
        return {"error": None}
    product = (x * y).sum(-1)
    size = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    both = np.where(size > 0, product / np.where(size > 0, size, 1), (x == y).all(-1).astype(float))
    smallest = float(np.clip(both, -1, 1).min())
    return {"error": 1 - smallest, "count": int(both.size), "cosine": smallest}


def of_set(a, b):
    """Rows of a list in another order: the sorted elements of each channel; another number of rows counts by its share."""
    if a.ndim != b.ndim or a.size == 0 or b.size == 0:
        return {"error": 0.0 if a.size == b.size else 1.0, "count": int(a.size), "other": int(b.size)}
    channel = a.shape[-1] if a.ndim > 1 and a.shape[-1] == b.shape[-1] and a.shape[-1] <= 16 else 1
    x, y = (np.sort(one.astype(np.float64).reshape(-1, channel), axis=0) for one in (a, b))
    if not np.isfinite(y).all() and np.isfinite(x).all():
        return {"error": None}
    short = min(len(x), len(y))
    size = np.abs(x).max(axis=0, initial=0)
    difference = np.abs(x[-short:] - y[-short:]).mean(axis=0)
    error = float(np.where(size > 0, difference / np.where(size > 0, size, 1), difference).max())
    return {"error": max(error, abs(len(x) - len(y)) / max(len(x), len(y))), "count": len(x), "other": len(y)}


def boxes(spec, reference, value, others, tie):
    """
    Boxes of a detector. `axis`: where the numbers of a box are; `layout`: `classes` (4 numbers, then a score a class),
    `objectness` (4 numbers, a score, then a score a class), `row` (4 numbers, score, class), `apart` (4 numbers; the
    scores and perhaps the labels are the outputs `scores` and `labels`). `aligned`: a box has the same place in both
    runs; otherwise the most similar ones of a class are matched. Error: the worst of the share of boxes without a match,
    1 - mean IoU of the others, and the largest difference of scores over the largest score.
    """
    one = parts(spec, reference.array, reference.others)
    other = parts(spec, value, others)
    if one is None or other is None:
        return None
    if not all(np.isfinite(part).all() for part in other):
        return {"error": None}
    corners = np.all(one[0][..., 2] >= one[0][..., 0]) and np.all(one[0][..., 3] >= one[0][..., 1])
    rows = [row(a, b, corners, spec.get("aligned", False), tie) for a, b in zip(zip(*one), zip(*other))]
    count = sum(found["count"] for found in rows)
    missing = sum(found["missing"] for found in rows)
    overlaps = np.concatenate([found["overlaps"] for found in rows])
    score = max((found["score"] for found in rows), default=0.0)
    mean = float(overlaps.mean()) if overlaps.size else 1.0
    share = missing / count if count else 0.0
    error = max(share, 1 - mean, score)
    return {"error": error, "count": count, "missing": missing, "iou": mean, "score": score}


def parts(spec, array, others):
    """(boxes [batch, n, 4], scores [batch, n], classes [batch, n])"""
    layout, axis = spec["layout"], spec.get("axis", -1)
    rows = np.moveaxis(array.astype(np.float64), axis, -1)
    rows = rows.reshape(1 if rows.ndim < 3 else rows.shape[0], -1, rows.shape[-1])
    place = rows[..., :4]
    if layout == "apart":
        scores = others.get(spec["scores"])
        if scores is None or scores.size == 0:
            return None
        scores = scores.astype(np.float64)
        if scores.size and (scores.min() < 0 or scores.max() > 1):
            scores = 1 / (1 + np.exp(-np.clip(scores, -80, 80)))
        if scores.size % (place.shape[0] * max(place.shape[1], 1)):
            return None
        scores = scores.reshape(place.shape[0], place.shape[1], -1)
        labels = others.get(spec.get("labels") or "")
        kinds = scores.argmax(-1) if labels is None else labels.reshape(place.shape[:2])
        return place, scores.max(-1), kinds
    if layout == "row":
        return place, rows[..., 4], np.round(rows[..., 5])
    if layout == "objectness":
        classes = rows[..., 5:]
        best = classes.max(-1) if classes.shape[-1] else 1.0
        return place, rows[..., 4] * best, classes.argmax(-1) if classes.shape[-1] else np.zeros(rows.shape[:2])
    return place, rows[..., 4:].max(-1), rows[..., 4:].argmax(-1)


def row(one, other, corners, aligned, tie):
    """One image."""
    (place, score, kind), (its_place, its_score, its_kind) = one, other
    largest = float(score.max(initial=0))
    limit = SCORE if largest >= SCORE else largest / 2
    picked = np.flatnonzero(score >= limit) if largest > 0 else np.array([], int)
    picked = picked[np.argsort(-score[picked], kind="stable")][:MOST_BOXES]
    scale = largest if largest > 0 else 1.0
    if aligned and score.shape == its_score.shape:
        overlaps = iou(place[picked], its_place[picked], corners)
        good = (overlaps >= OVERLAP) & (kind[picked] == its_kind[picked])
        seen = np.flatnonzero((score >= limit) | (its_score >= limit))
        apart = float(np.abs(score[seen] - its_score[seen]).max(initial=0)) / scale
        return {"count": len(picked), "missing": int((~good).sum()), "overlaps": overlaps[good], "score": apart}
    # Where the least score is as good as the limit, a box may be there or not.
    free = its_score >= limit * (1 - 2 * tie) if largest > 0 else np.zeros(its_score.shape, bool)
    free = free.copy()
    overlaps, missing, apart = [], 0, 0.0
    for i in picked:
        candidates = np.flatnonzero(free & (its_kind == kind[i]))
        found = iou(np.repeat(place[i : i + 1], len(candidates), 0), its_place[candidates], corners)
        if found.size == 0 or found.max() < OVERLAP:
            missing += 1
            continue
        best = candidates[found.argmax()]
        free[best] = False
        overlaps.append(float(found.max()))
        apart = max(apart, abs(float(score[i] - its_score[best])) / scale)
    # Behind the last box that was looked at, more may follow.
    is_all = len(picked) < MOST_BOXES
    extra = np.flatnonzero(free & (its_score >= limit * (1 + 2 * tie))) if is_all else []
    return {"count": len(picked), "missing": missing + len(extra), "overlaps": np.array(overlaps), "score": apart}


def iou(a, b, corners):
    """Of boxes in pairs."""
    (ax, ay, aX, aY), (bx, by, bX, bY) = (ends(one, corners) for one in (a, b))
    width = np.clip(np.minimum(aX, bX) - np.maximum(ax, bx), 0, None)
    height = np.clip(np.minimum(aY, bY) - np.maximum(ay, by), 0, None)
    both = width * height
    whole = (aX - ax) * (aY - ay) + (bX - bx) * (bY - by) - both
    return np.where(whole > 0, both / np.where(whole > 0, whole, 1), np.all(a == b, axis=-1).astype(float))


def ends(one, corners):
    x, y, third, fourth = np.moveaxis(one, -1, 0)
    if corners:
        return x, y, third, fourth
    return x - third / 2, y - fourth / 2, x + third / 2, y + fourth / 2
