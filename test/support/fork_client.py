"""Stands in for a script of src/driver of the same name: a process that fork_server.py forks runs that one instead, with the arguments,
folder, environment, input and output of this one. Signals reach it, and its exit status is this one's."""
import json
import os
import signal
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"))
request = {"arguments": [os.path.basename(__file__), *sys.argv[1:]], "folder": os.getcwd(), "environment": dict(os.environ)}
socket.send_fds(server, [b"\n"], [0, 1, 2])
server.sendall(json.dumps(request).encode() + b"\n")
answers = server.makefile()
pid = int(answers.readline())
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda received, _: os.kill(pid, received))
status = int(answers.readline())
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
