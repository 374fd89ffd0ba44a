"""Imports modules once, and then runs a script of a folder in a fork of this process for each fork_client.py that connects.

Arguments: the path of the socket, the folder, the modules. Prints a line once it listens. When its stdin
closes, it ends what it runs and removes the folder of the socket.
"""
import importlib
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import traceback

path, folder, *modules = sys.argv[1:]
for module in modules:
    importlib.import_module(module)

running = {}  # connections by process id
events = selectors.DefaultSelector()
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(64)
woken, wakes = os.pipe()
os.set_blocking(wakes, False)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(wakes)
for source in (listener, sys.stdin, woken):
    events.register(source, selectors.EVENT_READ)
print("listening", flush=True)


def run(request, files):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for target, file in enumerate(files):
        os.dup2(file, target)
    os.closerange(3, 256)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    name, *arguments = request["arguments"]
    sys.argv = [os.path.join(folder, name), *arguments]
    sys.path[0] = folder
    runpy.run_path(sys.argv[0], run_name="__main__")


def accept():
    connection, _ = listener.accept()
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    request = json.loads(connection.makefile().readline())
    pid = os.fork()
    if pid == 0:
        status = 0
        try:
            run(request, files)
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            status = 1
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    for file in files:
        os.close(file)
    running[pid] = connection
    events.register(connection, selectors.EVENT_READ, pid)
    connection.sendall(b"%d\n" % pid)


def reap():
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            break
        connection = running.pop(pid)
        if connection in events.get_map():
            events.unregister(connection)
        try:
            connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        except OSError:
            pass  # its client was killed
        connection.close()


while True:
    for key, _ in events.select():
        if key.fileobj is listener:
            accept()
        elif key.fileobj == woken:
            os.read(woken, 4096)
            reap()
        elif key.fileobj is sys.stdin:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(os.path.dirname(path))
            os._exit(0)
        elif key.data in running:
            events.unregister(key.fileobj)
            os.kill(key.data, signal.SIGKILL)  # its client was killed
