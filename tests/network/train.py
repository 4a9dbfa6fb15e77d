"""Trains the quantized networks of the demonstration and of the tests, and writes what TensorFlow Lite makes of digits.

The files are committed; this runs on request only:

    python -m venv /tmp/train && /tmp/train/bin/pip install -r tests/network/requirements.txt
    /tmp/train/bin/python tests/network/train.py

Beside each network NAME.tflite stand NAME.features.npy, rows that it has not seen, and NAME.codes.npy, TensorFlow Lite's int8 codes
of them: of the larger network those to calibrate on and those to judge on, of the smaller one the latter.
order.npy has the rows of scikit-learn's digits in a random order: the first 400 were trained on, the next 900 are to calibrate
on, and the last 497 to judge on. In `refused` are networks that a device does not run.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import pathlib

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).parent
TRAINING, CALIBRATION = 400, 900
SEED = 20_260_101
#: Pixels are from 0 to 16; layers are trained on a sixteenth of them.
PIXEL = 16.0


def main():
    tf.config.experimental.enable_op_determinism()
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target)).astype(np.uint16)
    np.save(HERE / "order.npy", order[:, np.newaxis])
    images, labels = digits.images[order].astype(np.float32)[..., np.newaxis], digits.target[order]
    judged = TRAINING + CALIBRATION
    for name, layers, last, first in [
        ("digits", lambda: [conv(), pool(), flat(), dense(32, "relu")], None, TRAINING),
        ("digits-small", lambda: [conv(), pool(), flat()], "softmax", judged),
    ]:
        model = trained(layers, last, images[:TRAINING], labels[:TRAINING])
        content = converted(model, images[:TRAINING])
        (HERE / f"{name}.tflite").write_bytes(content)
        codes = tflite_codes(content, images[first:])
        np.save(HERE / f"{name}.features.npy", images[first:].reshape(-1, 64).astype(np.uint8))
        np.save(HERE / f"{name}.codes.npy", codes)
        codes_judged = codes[judged - first :]
        accuracy = (codes_judged.argmax(axis=1) == labels[judged:]).mean()
        print(f"{name}: {len(content)} bytes, accuracy {accuracy:.4f} on {len(codes_judged)} test rows")
    refused(images[:TRAINING])


def conv():
    return tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu")


def pool():
    return tf.keras.layers.AveragePooling2D(2)


def flat():
    return tf.keras.layers.Flatten()


def dense(units, activation=None, **options):
    return tf.keras.layers.Dense(units, activation=activation, **options)


def trained(layers, last, images, labels):
    """A network of these layers, made here so that their seeds are drawn here, and of 10 outputs. Without a last activation it gives logits, and is trained on their softmax."""
    tf.keras.utils.set_random_seed(SEED)
    model = network([*layers(), dense(10)], (8, 8, 1))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(3e-3), loss)
    model.fit(images / PIXEL, labels, batch_size=20, epochs=60, verbose=0)
    # The device takes pixels as they are: the first layer's weights divide them.
    first = model.layers[0]
    weights, bias = first.get_weights()
    first.set_weights([weights / PIXEL, bias])
    if last is not None:
        model.add(tf.keras.layers.Softmax())
    return model


def network(layers, shape, batch_size=1):
    """Without a batch size the converter adds SHAPE and PACK operators."""
    return tf.keras.Sequential([tf.keras.layers.Input(shape, batch_size=batch_size), *layers])


def converted(model, images, per_channel_dense=False, int8=True):
    """The bytes of an int8 network: int8 in and out, one scale for the weights of a dense layer."""
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in images)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    if int8:
        converter.inference_input_type = converter.inference_output_type = tf.int8
    converter._experimental_disable_per_channel_quantization_for_dense_layers = not per_channel_dense
    return converter.convert()


def quantized(values, scale, zero_point):
    """As TensorFlow Lite's operator QUANTIZE does it: halves away from 0."""
    steps = (values.astype(np.float32) / np.float32(scale)).astype(np.float64)
    return np.clip(np.trunc(steps + np.copysign(0.5, steps)) + zero_point, -128, 127).astype(np.int8)


def tflite_codes(content, images):
    """The codes of every row by TensorFlow Lite as it is: with XNNPACK, which scales sums in floats, as microflow does.

    Its kernels without XNNPACK shift integers, and give some rows otherwise, by a code.
    """
    resolvers = tf.lite.experimental.OpResolverType
    codes, shifted = (
        codes_by(tf.lite.Interpreter(model_content=content, experimental_op_resolver_type=resolver), images)
        for resolver in (resolvers.AUTO, resolvers.BUILTIN_REF)
    )
    differ = (codes != shifted).any(axis=1).sum()
    print(f"  of {len(codes)} rows {differ} come out otherwise without XNNPACK")
    return codes


def codes_by(interpreter, images):
    interpreter.allocate_tensors()
    (taken,), (given,) = interpreter.get_input_details(), interpreter.get_output_details()
    codes = []
    for image in images:
        interpreter.set_tensor(taken["index"], quantized(image[np.newaxis], *taken["quantization"]))
        interpreter.invoke()
        codes.append(interpreter.get_tensor(given["index"])[0])
    return np.array(codes)


def refused(images):
    """Small networks, each with something that a device does not run. They are not trained."""
    folder = HERE / "refused"
    folder.mkdir(exist_ok=True)
    tf.keras.utils.set_random_seed(SEED)
    # The converter leaves out what is nothing.
    biased = {"bias_initializer": "ones"}
    small = [tf.keras.layers.Conv2D(2, 3, padding="same", **biased), flat(), dense(3, **biased)]
    strided = [tf.keras.layers.DepthwiseConv2D(3, strides=2, padding="same", **biased), flat(), dense(3, **biased)]
    peaked = network([flat(), dense(3, **biased), tf.keras.layers.Softmax()], (8, 8, 1))
    weights, bias = peaked.layers[1].get_weights()
    peaked.layers[1].set_weights([100 * weights, bias])
    for name, content in [
        ("depthwise-stride-2-same", converted(network(strided, (8, 8, 1)), images)),
        ("per-channel-dense", converted(network(small, (8, 8, 1)), images, per_channel_dense=True)),
        ("no-batch-size", converted(network(small, (8, 8, 1), batch_size=None), images)),
        ("float-in-and-out", converted(network(small, (8, 8, 1)), images, int8=False)),
        ("peaked-softmax", converted(peaked, images)),
        ("sigmoid", converted(network([flat(), dense(1, "sigmoid", **biased)], (8, 8, 1)), images)),
    ]:
        (folder / f"{name}.tflite").write_bytes(content)


if __name__ == "__main__":
    main()
