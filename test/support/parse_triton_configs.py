"""Parses Triton's configurations with tritonclient's own messages.

Reads one JSON text a line: a config.pbtxt; writes one answer a line: its fields as JSON, or {"error": why not}.
"""
import importlib.util
import json
import sys

from google.protobuf import json_format, text_format

# The package around it imports gRPC, which parsing does not need.
root = importlib.util.find_spec("tritonclient").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("model_config_pb2", root + "/grpc/model_config_pb2.py")
model_config_pb2 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model_config_pb2)

for line in sys.stdin:
    try:
        config = text_format.Parse(json.loads(line), model_config_pb2.ModelConfig())
        answer = json_format.MessageToDict(config, preserving_proto_field_name=True)
    except text_format.ParseError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
