"""Shared by the scripts of this folder: JSON lines to the caller, and cancellation when the caller requests it or exits.

A job reads one line of JSON from stdin, its request, and then writes one JSON object per line to stdout:

  {"event": NAME, ...}                             whatever the job reports on the way
  {"event": "done", "result"}                      the last line of a job that succeeded (exit status 0)
  {"event": "error", "stage", "message", "details"[, "code"]}  the last line of any other (1; 2: unusable request; 143: cancelled)

Stdin stays open as long as the caller wants the result. A job may read further lines from it (`stop.lines()`). Needs Python 3.8 or newer.
"""

import json
import os
import queue
import signal
import sys
import threading
import time


class JobError(Exception):
    """An error for the user: what is wrong, where, and what to do. `stage` is what the job was doing, `code` a name for
    the error that the caller recognizes."""

    def __init__(self, stage, message, details=None, code=None):
        super().__init__(message)
        self.stage, self.details = stage, details or []
        self.known = {"code": code} if code else {}


class Channel:
    """JSON lines on a private copy of stdout. Descriptor 1 then refers to stderr, so that no printf breaks a line."""

    def __init__(self):
        sys.stdout.flush()
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self.closed = False

    def send(self, event, **fields):
        """Numbers must be finite, because JSON has no others."""
        text = json.dumps(dict(event=event, **fields), separators=(",", ":"), allow_nan=False)
        data = text.encode("ascii") + b"\n"
        with self._lock:
            try:
                while data and not self.closed:
                    data = data[os.write(self._out, data) :]
            except OSError:  # the reader is gone: the job stops at its next step
                self.closed = True


class Stop:
    """Whether cancellation was requested, and until when the job may stop by itself."""

    def __init__(self, grace):
        self._grace, self._asked, self._deadline = grace, threading.Event(), None
        self._lines = queue.Queue()
        self.leftovers = set()  # temporary files, removed on a hard exit

    def ask(self, *_):
        if self._deadline is None:
            self._deadline = time.monotonic() + self._grace
        self._asked.set()

    def asked(self):
        return self._asked.is_set()

    def overdue(self):
        return self._deadline is not None and time.monotonic() > self._deadline

    def check(self):
        """Call this between steps. Raises JobError once cancellation was requested."""
        if self.asked():
            raise JobError("cancelled", "cancelled")

    def lines(self):
        """The lines of stdin behind the request, as they come, until it closes. Raises JobError once the end was asked for."""
        while True:
            try:
                line = self._lines.get(timeout=0.1)
            except queue.Empty:
                line = b""
            self.check()
            if line is None:
                return
            if line:
                yield line

    def ask_on_signals(self):
        for name in ("SIGTERM", "SIGINT"):
            signal.signal(getattr(signal, name), self.ask)

    def ask_when_stdin_closes(self, read=b""):
        """`read`: what was read of stdin already, and not used."""

        def listen():
            text = bytearray(read)
            while True:
                *lines, rest = text.split(b"\n")
                for line in lines:
                    self._lines.put(bytes(line))
                chunk = os.read(0, 1 << 20)
                if not chunk:
                    break
                text = rest + chunk
            self.ask()
            self._lines.put(None)

        threading.Thread(target=listen, daemon=True).start()


def remove(paths):
    for path in list(paths):
        try:
            os.unlink(path)
        except OSError:
            pass


def run(work, channel, stop):
    """Runs `work()` and ends the process with the status of its outcome; whatever goes wrong is the last line."""
    status = []

    def guarded():
        try:
            work()
            status.append(0)
        except JobError as error:
            status.append({"arguments": 2, "cancelled": 143}.get(error.stage, 1))
            channel.send("error", stage=error.stage, message=str(error), details=error.details, **error.known)
        except BaseException as error:  # every job must write its last line
            status.append(1)
            channel.send("error", stage="internal", message="%s: %s" % (type(error).__name__, error), details=[])

    # Python runs signal handlers in the main thread only, which must therefore not be the one inside native code.
    worker = threading.Thread(target=guarded, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.05)
        if stop.overdue():
            channel.send("error", stage="cancelled", message="cancelled", details=[])
            remove(stop.leftovers)
            os._exit(143)
    os._exit(status[0])  # at once, because the teardown of a native library may crash after a failure


def read_line():
    """The first line of stdin, and what was read behind it. Unbuffered: the rest is for `ask_when_stdin_closes`."""
    read = bytearray()
    while b"\n" not in read:
        chunk = os.read(0, 65536)
        if not chunk:
            break
        read += chunk
    line, _, rest = bytes(read).partition(b"\n")
    return line, rest


def serve(handle):
    """
    The whole of a job's script: `handle(request, channel, stop)` gets the request, may send events, calls `stop.check()`
    between its steps, and returns the result, which JSON can represent. Invalid input raises a JobError.
    """
    channel, stop = Channel(), Stop(0.7)
    stop.ask_on_signals()
    line, rest = read_line()
    stop.ask_when_stdin_closes(rest)

    def work():
        try:
            request = json.loads(line.decode("utf-8"))
        except ValueError as error:
            raise JobError("arguments", "the request is not one line of JSON: %s" % error) from None
        channel.send("done", result=handle(request, channel, stop))

    run(work, channel, stop)
