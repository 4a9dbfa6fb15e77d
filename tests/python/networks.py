"""Small TFLite networks, written as a converter writes them: one dense layer, quantized, and what makes probabilities of it."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

TYPES = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.uint8): schema.TensorType.UINT8,
    np.dtype(np.int16): schema.TensorType.INT16,
    np.dtype(np.int32): schema.TensorType.INT32,
}
DENSE, LOGISTIC, SOFTMAX, QUANTIZE, DEQUANTIZE = (
    schema.BuiltinOperator.FULLY_CONNECTED,
    schema.BuiltinOperator.LOGISTIC,
    schema.BuiltinOperator.SOFTMAX,
    schema.BuiltinOperator.QUANTIZE,
    schema.BuiltinOperator.DEQUANTIZE,
)
#: Since these versions the operators know int8.
VERSIONS = {DENSE: 4, LOGISTIC: 2, SOFTMAX: 2, QUANTIZE: 2, DEQUANTIZE: 2}
#: Scale and zero point of TFLite's probabilities in int8.
PROBS = (1 / 256, -128)


class Network:
    """Is put together tensor by tensor."""

    def __init__(self):
        # The first buffer is that of tensors without data.
        self.buffers, self.tensors, self.operators, self.codes = [schema.BufferT()], [], [], []

    def tensor(self, name, shape, dtype, quantization=None, data=None):
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(schema.BufferT(data=np.frombuffer(np.ascontiguousarray(data).tobytes(), dtype=np.uint8)))
        how = None
        if quantization is not None:
            scale, zero_point = quantization
            how = schema.QuantizationParametersT(scale=[scale], zeroPoint=[zero_point])
        self.tensors.append(
            schema.TensorT(shape=list(shape), type=TYPES[np.dtype(dtype)], buffer=buffer, name=name, quantization=how)
        )
        return len(self.tensors) - 1

    def operator(self, code, inputs, output):
        options = {
            DENSE: (schema.BuiltinOptions.FullyConnectedOptions, schema.FullyConnectedOptionsT()),
            SOFTMAX: (schema.BuiltinOptions.SoftmaxOptions, schema.SoftmaxOptionsT(beta=1.0)),
        }.get(code, (0, None))
        self.codes.append(schema.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code, version=VERSIONS[code]))
        self.operators.append(
            schema.OperatorT(
                opcodeIndex=len(self.codes) - 1,
                inputs=inputs,
                outputs=[output],
                builtinOptionsType=options[0],
                builtinOptions=options[1],
            )
        )
        return output

    def to_bytes(self, inputs, outputs):
        graph = schema.SubGraphT(tensors=self.tensors, inputs=inputs, outputs=outputs, operators=self.operators, name="main")
        model = schema.ModelT(version=3, operatorCodes=self.codes, subgraphs=[graph], buffers=self.buffers, description="test")
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def quantization(values, dtype=np.int8):
    """Scale and zero point that reach over values, as a converter chooses them."""
    ends = np.iinfo(dtype)
    low, high = min(0.0, float(np.min(values))), max(0.0, float(np.max(values)))
    scale = float(np.float32((high - low) / (ends.max - ends.min)))
    return scale, round(ends.min - low / scale)


def dense(weights, bias, X, last=None, *, rows=1, dtype=np.int8, outputs=("last",), floats=False):
    """The bytes of an int8 network: weights of shape (outputs, features), then ``last``, LOGISTIC or SOFTMAX, or nothing.

    ``X`` are rows that scales are chosen by. With another ``dtype``, uint8, input and output are of that, as a converter
    makes them; with ``floats`` the output is made float32 by an operator of its own.
    """
    weights, bias, network = np.atleast_2d(weights), np.atleast_1d(bias), Network()
    count, features = weights.shape
    taken, logits = quantization(X, np.int8), quantization(X @ weights.T + bias, np.int8)
    scale = float(np.float32(np.abs(weights).max() / 127))
    first = at = network.tensor("features", (rows, features), np.int8, taken)
    if dtype != np.int8:
        first = network.tensor("bytes", (rows, features), dtype, (taken[0], taken[1] + 128))
        network.operator(QUANTIZE, [first], at)
    held = network.tensor("weights", weights.shape, np.int8, (scale, 0), np.round(weights / scale).astype(np.int8))
    shift = np.round(bias / (scale * taken[0])).astype(np.int32)
    shift = network.tensor("bias", bias.shape, np.int32, (scale * taken[0], 0), shift)
    at = sums = network.operator(DENSE, [at, held, shift], network.tensor("logits", (rows, count), np.int8, logits))
    if last is not None:
        at = network.operator(last, [at], network.tensor("probs", (rows, count), np.int8, PROBS))
    if dtype != np.int8:
        scale, zero_point = PROBS if last is not None else logits
        at = network.operator(QUANTIZE, [at], network.tensor("said", (rows, count), dtype, (scale, zero_point + 128)))
    if floats:
        at = network.operator(DEQUANTIZE, [at], network.tensor("floats", (rows, count), np.float32))
    named = {"logits": sums, "last": at}
    return network.to_bytes([first], [named[name] for name in outputs])


def quantizes(features, how, dtype, *, as_codes):
    """The bytes of a network that only quantizes: from float32, or, with ``as_codes``, from codes to the same codes."""
    network = Network()
    first = network.tensor("in", (1, features), np.int8 if as_codes else np.float32, how if as_codes else None)
    last = network.operator(QUANTIZE, [first], network.tensor("out", (1, features), dtype, how))
    return network.to_bytes([first], [last])


def interpreter(content):
    return Interpreter(model_content=content)
