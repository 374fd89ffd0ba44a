"""Small random models with If, Loop and Scan, and what FP16 does to the nodes inside, computed with NumPy alone.

Reads one line {"folder", "seed"} a model, writes model.onnx and inputs.npz into the folder, and one JSON line:
{"names": [node, ...], "errors": as in accuracy_oracle.py, "nodes": {name: {"max", "local", "run"} or null}}. A node has
null if it did not run; errors are null where they are not finite. The low-precision run is followed in the branches and
iterations of the exact one.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from brute_force import answer_all

np.seterr(all="ignore")
F = np.float32
WIDTH = 6

UNARY = {
    "Exp": np.exp, "Tanh": np.tanh, "Abs": np.abs, "Neg": lambda x: -x, "Sqrt": np.sqrt, "Sin": np.sin,
    "Relu": lambda x: np.maximum(x, 0),
}  # fmt: skip
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum}
CONTAINERS = ("If", "Loop", "Scan")


def low(x):
    return x.astype(np.float16).astype(F)


class Builder:
    """Random graphs: every tensor is a vector of WIDTH numbers."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.names, self.constants, self.count = [], {}, 0

    def fresh(self, what):
        self.count += 1
        return f"{what}{self.count}"

    def pick(self, options):
        return options[int(self.random.integers(len(options)))]

    def constant(self, value):
        name = self.fresh("c")
        self.constants[name] = np.asarray(value)
        return name

    def node(self, seen):
        """A node that reads tensors of `seen`, the last ones first, and perhaps a constant."""
        a = seen[-1] if self.random.random() < 0.7 else self.pick(seen)
        kind = self.random.random()
        if kind < 0.4:
            op, reads = self.pick(list(UNARY)), [a]
        elif kind < 0.7:
            op, reads = self.pick(list(BINARY)), [a, self.pick(seen)]
        else:
            # Not Div: TensorRT divides by a constant in its own way, which accuracy_oracle.py covers.
            op, reads = self.pick(["Add", "Sub", "Mul", "Max"]), [a, self.constant(F(self.pick([0.1, 3, 1e-4, 700, 4000, 1e5])))]
        name, out = f"/n.{len(self.names)}/{op}", self.fresh("t")
        self.names.append(name)
        return helper.make_node(op, reads, [out], name)

    def chain(self, seen, least, most):
        nodes = []
        for _ in range(int(self.random.integers(least, most + 1))):
            nodes.append(self.node(seen))
            seen = [*seen, nodes[-1].output[0]]
        return nodes, seen

    def larger(self, a, b):
        """Nodes for a scalar: whether the largest number of a is below that of b."""
        made = []
        for tensor in (a, b):
            name = f"/n.{len(self.names)}/ReduceMax"
            self.names.append(name)
            made.append(helper.make_node("ReduceMax", [tensor], [self.fresh("t")], name, keepdims=0))
        flag = self.fresh("flag")
        return [*made, helper.make_node("Less", [made[0].output[0], made[1].output[0]], [flag], self.fresh("less"))], flag

    def branch(self, seen, depth):
        nodes, seen = self.part(seen, depth) if depth < 2 and self.random.random() < 0.3 else self.chain(seen, 1, 2)
        return self.graph(nodes, [], [self.value(seen[-1])])

    def part(self, seen, depth):
        """An If, a Loop or a Scan; what it gives comes last."""
        kind = self.pick(CONTAINERS if depth == 0 else CONTAINERS[:2])
        out = self.fresh("t")
        if kind == "If":
            nodes, flag = self.larger(self.pick(seen), self.pick(seen))
            branches = {name: self.branch(seen, depth + 1) for name in ("then_branch", "else_branch")}
            return [*nodes, helper.make_node("If", [flag], [out], self.fresh("if"), **branches)], [*seen, out]
        state = self.fresh("s")
        if kind == "Scan":
            row = self.fresh("row")
            nodes, inner = self.chain([*seen, row, state], 1, 3)
            body = self.graph(nodes, [self.value(state), self.value(row)], [self.value(inner[-1])])
            return [helper.make_node("Scan", [seen[-1], "rows"], [out], self.fresh("scan"), body=body, num_scan_inputs=1)], [*seen, out]
        step, go, on = self.fresh("step"), self.fresh("go"), self.fresh("on")
        inside = self.part if depth < 1 and self.random.random() < 0.4 else None
        nodes, inner = inside([*seen, state], depth + 1) if inside else self.chain([*seen, state], 1, 3)
        given = inner[-1]
        if self.random.random() < 0.4:
            more, flag = self.larger(given, self.pick(seen))
            nodes += more
        else:
            nodes.append(helper.make_node("Not", ["no"], [on], self.fresh("not")))
            flag = on
        inputs = [helper.make_tensor_value_info(step, TensorProto.INT64, []), helper.make_tensor_value_info(go, TensorProto.BOOL, []), self.value(state)]
        body = self.graph(nodes, inputs, [helper.make_tensor_value_info(flag, TensorProto.BOOL, []), self.value(given)])
        trips = self.constant(np.int64(self.random.integers(0, 5)))
        return [helper.make_node("Loop", [trips, "", seen[-1]], [out], self.fresh("loop"), body=body)], [*seen, out]

    def value(self, name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [WIDTH])

    def graph(self, nodes, inputs, outputs):
        return helper.make_graph(nodes, self.fresh("graph"), inputs, outputs)


class Model(Builder):
    def __init__(self, seed):
        super().__init__(seed)
        self.constants["no"] = np.bool_(False)
        scale = F(self.random.choice([1, 3, 30]))
        self.inputs = {"x": self.random.standard_normal(WIDTH).astype(F) * scale, "rows": self.random.standard_normal((3, WIDTH)).astype(F)}
        before, seen = self.chain(["x"], 0, 2)
        middle, seen = self.part(seen, 0)
        behind, seen = self.chain(seen, 0, 1)
        self.nodes, self.last = [*before, *middle, *behind], seen[-1]

    def run(self, exact):
        """The output with the nodes of this mask in FP32."""
        keep = {name for i, name in enumerate(self.names) if exact >> i & 1}
        return self.walk(self.nodes, {**self.inputs, **self.constants}, lambda name: name in keep)[self.last]

    def walk(self, nodes, values, keeps):
        values = dict(values)
        for node in nodes:
            read = [values[name] for name in node.input if name]
            if node.op_type in CONTAINERS:
                values[node.output[0]] = self.container(node, values, lambda body, inner: self.walk(body.node, inner, keeps))
            else:
                values[node.output[0]] = self.compute(node, read, keeps(node.name))
        return values

    def container(self, node, values, run):
        """What an If, a Loop or a Scan gives; `run` runs a body."""
        graphs = {one.name: one.g for one in node.attribute if one.type == onnx.AttributeProto.GRAPH}
        if node.op_type == "If":
            body = graphs["then_branch" if values[node.input[0]] else "else_branch"]
            return run(body, values)[body.output[0].name]
        body = graphs["body"]
        if node.op_type == "Scan":
            state = values[node.input[0]]
            for row in values[node.input[1]]:
                state = run(body, {**values, body.input[0].name: state, body.input[1].name: row})[body.output[0].name]
            return state
        state = values[node.input[2]]
        for _ in range(int(values[node.input[0]])):
            inner = run(body, {**values, body.input[2].name: state})
            state = inner[body.output[1].name]
            if not inner[body.output[0].name]:
                break
        return state

    def compute(self, node, read, keep):
        if node.op_type == "Less":
            return read[0] < read[1]
        if node.op_type == "Not":
            return np.logical_not(read[0])
        read = read if keep else [low(one) for one in read]
        if node.op_type == "ReduceMax":
            result = read[0].max()
        else:
            result = UNARY[node.op_type](read[0]) if node.op_type in UNARY else BINARY[node.op_type](*read)
        result = np.asarray(result).astype(F)
        return result if keep else low(result)

    def judge(self):
        """Of each node the results in the exact run, on exact inputs, and in the low-precision run beside it."""
        found = {name: [] for name in self.names}

        def both(nodes, values, lows):
            values, lows = dict(values), dict(lows)
            for node in nodes:
                out = node.output[0]
                if node.op_type in CONTAINERS:
                    states = {}

                    def run(body, inner, lows=lows, states=states):
                        # The state of the low-precision run goes along.
                        given = [one.name for one in body.input]
                        own = {name: inner[name] for name in given if name in inner}
                        if node.op_type == "Loop":
                            own[given[2]] = states.get("state", lows[node.input[2]])
                        if node.op_type == "Scan":
                            own[given[0]] = states.get("state", lows[node.input[0]])
                        exact, other = both(body.node, inner, {**lows, **own})
                        states["state"] = other[body.output[1 if node.op_type == "Loop" else 0].name]
                        return exact

                    values[out] = self.container(node, values, run)
                    # Behind it the low-precision run is the real one, with its own branches and iterations.
                    lows[out] = self.container(node, lows, lambda body, inner: self.walk(body.node, inner, lambda _: False))
                    continue
                read = [values[name] for name in node.input]
                other = [lows[name] for name in node.input]
                values[out], lows[out] = self.compute(node, read, True), self.compute(node, other, False)
                if node.name in found:
                    found[node.name].append((values[out], self.compute(node, read, False), lows[out]))
            return values, lows

        start = {**self.inputs, **self.constants}
        both(self.nodes, start, start)
        return {name: summary(runs) for name, runs in found.items()}

    def save(self, folder):
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(value.shape)) for name, value in self.inputs.items()],
            [self.value(self.last)],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, f"{folder}/model.onnx")
        np.savez(f"{folder}/inputs.npz", **self.inputs)


def summary(runs):
    """Over all iterations; what is not finite in the reference does not count."""
    if not runs:
        return None
    exact, shadow, run = (np.concatenate([np.ravel(one[i]).astype(np.float64) for one in runs]) for i in range(3))
    known = np.isfinite(exact)
    largest = float(np.abs(exact[known]).max(initial=0))

    def distance(copy):
        worst = np.abs(copy - exact)[known].max(initial=0)
        return None if not np.isfinite(worst) else float(worst / largest if largest > 0 else worst)

    return {"max": largest, "local": distance(shadow), "run": distance(run)}


answer_all(Model, lambda model, errors: {"names": model.names, "errors": errors, "nodes": model.judge()}, most=9)
