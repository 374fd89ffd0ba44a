"""A job that answers one request after another (`job.py`): each line on stdin behind the request of the job is one request
{"do": NAME, ...}, and each gets one event, {"event": "answer", "result"} or {"event": "refused", "kind", "message"};
{"do": "close"} ends the job. Needs nothing else."""

import json


class Refused(Exception):
    """A request that cannot be met; the conversation goes on. `kind`: a name that the caller recognizes."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def converse(does, channel, stop, refusals=()):
    """
    Answers until the conversation ends. `does`: functions by name; a request's other fields are their arguments.
    `refusals`: (exception, kind) of further errors that are no failure of the script.
    """
    for line in stop.lines():
        request = json.loads(line)
        what = request.pop("do")
        if what == "close":
            break
        try:
            channel.send("answer", result=does[what](**request))
        except Refused as refused:
            channel.send("refused", kind=refused.kind, message=str(refused))
        except MemoryError:
            channel.send("refused", kind="memory", message="out of memory")
        except Exception as error:
            kind = next((kind for raised, kind in refusals if isinstance(error, raised)), "failed")
            channel.send("refused", kind=kind, message=str(error))
