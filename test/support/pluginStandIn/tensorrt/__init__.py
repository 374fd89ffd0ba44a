"""Stands in for TensorRT's Python package as far as a plugin written with `tensorrt.plugin` needs it: no TensorRT for a
machine without a GPU has that module. Names and rules are those of its documentation (TensorRT 10.6)."""

from enum import Enum


class DataType(Enum):
    FLOAT = "float32"
    HALF = "float16"
    BF16 = "bfloat16"
    INT64 = "int64"
    INT32 = "int32"
    INT8 = "int8"
    UINT8 = "uint8"
    BOOL = "bool"


float32, float16, bfloat16 = DataType.FLOAT, DataType.HALF, DataType.BF16
int64, int32, int8, uint8, bool = DataType.INT64, DataType.INT32, DataType.INT8, DataType.UINT8, DataType.BOOL
