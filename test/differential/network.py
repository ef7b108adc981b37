"""The cost model in Python: an independent double-precision one, and the one in the wheel's plugin.

The network maps the features of a stage to 32 coefficients, each of which is multiplied with a
quantity of the schedule; a stage's cost is the sum of these terms. Here it is written once more
with numpy, straight from its definition, to check both plugins. Reference is the compiled function
that the plugin of the wheel exports.
"""

import ctypes
import os
import pathlib
import threading

import numpy

SCHEDULE, ALGORITHM = 73, 287
SHAPES = [(7, 40, 8), (8,), (73, 24), (24,), (32, 32), (32,)]
SIGNATURE = 0x68776631


def read_weights(path):
    """The six arrays of a .weights file, outermost dimension first."""
    data = pathlib.Path(path).read_bytes()
    header = numpy.frombuffer(data, "<u4", 4)
    if header[0] != SIGNATURE or header[3] != 6:
        raise ValueError(f"{path} is no weights file")
    offset, arrays = 16, []
    for shape in SHAPES:
        dims = int(numpy.frombuffer(data, "<u4", 1, offset)[0])
        extents = tuple(numpy.frombuffer(data, "<u4", dims, offset + 4)[::-1])
        if extents != shape:
            raise ValueError(f"{path}: {extents} instead of {shape}")
        offset += 4 + 4 * dims
        arrays.append(numpy.frombuffer(data, "<f4", int(numpy.prod(shape)), offset).reshape(shape))
        offset += 4 * int(numpy.prod(shape))
    return arrays


def records(blob):
    """(schedule features, algorithm features) of a blob: arrays [stages, 73] and [stages, 287]."""
    table = numpy.frombuffer(blob, "<f4").reshape(-1, SCHEDULE + ALGORITHM)
    return table[:, :SCHEDULE], table[:, SCHEDULE:]


def activation(v):
    return numpy.maximum(v, 0) + 1e-10 * numpy.minimum(v, 0)


def coefficients(weights, schedule, algorithm):
    """Array [stages, 32], and for each the sum of the absolute values that it is summed from."""
    filter1, bias1, filter2, bias2, filter3, bias3 = [w.astype(float) for w in weights]
    kinds = algorithm[:, 7:].reshape(-1, 40, 7)
    head1 = bias1 + numpy.einsum("yxc,wxy->wc", 1 / (1 + numpy.exp(-filter1)), kinds)
    terms2 = numpy.log(schedule + 1)[:, :, None] * filter2[None]
    head2 = activation(bias2 + terms2.sum(axis=1))
    size2 = numpy.abs(bias2) + numpy.abs(terms2).sum(axis=1)
    value = bias3 + numpy.concatenate([head1, head2], axis=1) @ filter3
    size = numpy.abs(bias3) + numpy.concatenate([numpy.abs(head1), size2], axis=1) @ abs(filter3)
    return activation(value), size


def multipliers(f, num_cores):
    """Array [stages, 32]: what each coefficient is multiplied with, in ms."""
    inlined, many = f[:, 18] != 0, f[:, 10] > 1
    blocks = numpy.maximum(1, f[:, 50])
    threads = blocks * f[:, 71]
    tasks = numpy.maximum(1, f[:, 10] * f[:, 11])
    waves = tasks / num_cores
    wave = numpy.ceil(waves) / numpy.maximum(1, waves)
    with numpy.errstate(divide="ignore"):
        lane = numpy.where(inlined, 1, 1 / (1 - f[:, 57]))
        load = numpy.where(inlined, 1, 1 / f[:, 65])
        store = numpy.where(inlined, 1, 1 / f[:, 64])
    scalars = f[:, 35]
    m = numpy.zeros((len(f), 32))
    m[:, 1] = numpy.where(inlined, 0, scalars * wave * lane)
    m[:, 3] = numpy.where(inlined, scalars * wave, 0)
    m[:, 19] = numpy.where(inlined, 0, threads * f[:, 4] * wave * lane)
    m[:, 4] = numpy.where(inlined, threads * f[:, 4] * wave, 0)
    for coefficient, feature in ((5, 22), (16, 23), (8, 24), (6, 19), (20, 20), (7, 21)):
        m[:, coefficient] = f[:, 0] * f[:, feature]
    for coefficient, feature in ((18, 28), (17, 29), (2, 30), (13, 25), (11, 26), (0, 27)):
        m[:, coefficient] = threads * f[:, feature]
    m[:, 10], m[:, 12] = scalars * f[:, 42], scalars * f[:, 43]
    m[:, 14], m[:, 15] = tasks * f[:, 44], tasks * f[:, 45]
    m[:, 28], m[:, 27] = blocks * f[:, 59] * load, blocks * f[:, 58]
    m[:, 29], m[:, 21] = blocks * f[:, 60], blocks * f[:, 61] * store
    m[:, 22] = numpy.where(many, scalars / numpy.maximum(1, f[:, 39]), 0)
    m[:, 24], m[:, 25] = f[:, 0], numpy.where(many, f[:, 1], 0)
    m[:, 26] = f[:, 1] * (f[:, 10] - 1)
    m[:, 9] = f[:, 34]
    return m * 1e-9


class Prediction:
    """Costs per stage in ms, and two yardsticks for rounding errors per stage.

    terms: sum of the absolute terms; sums: the same with each coefficient replaced by the sum of
    absolute values that it comes from, because a coefficient may be a small difference of large
    numbers, which single precision does not resolve.
    """

    def __init__(self, weights, blob, num_cores):
        schedule, algorithm = (part.astype(float) for part in records(blob))
        k, size = coefficients(weights, schedule, algorithm)
        m = multipliers(schedule, num_cores)
        self.costs = (k * m).sum(axis=1)
        self.terms = numpy.abs(k * m).sum(axis=1)
        self.sums = (size * numpy.abs(m)).sum(axis=1)


class Dimension(ctypes.Structure):
    _fields_ = [("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32),
                ("flags", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    _fields_ = [("device", ctypes.c_uint64), ("interface", ctypes.c_void_p),
                ("host", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("dimensions", ctypes.c_int32), ("dim", ctypes.POINTER(Dimension)),
                ("padding", ctypes.c_void_p)]


def wrap(array):
    """A Halide buffer of a dense float array; its first dimension is the array's last."""
    dims = (Dimension * max(1, array.ndim))()
    stride = 1
    for i, extent in enumerate(reversed(array.shape)):
        dims[i] = Dimension(0, extent, stride, 0)
        stride *= extent
    buffer = Buffer(0, None, array.ctypes.data, 0, 2, 32, 1, array.ndim, dims, None)
    buffer.keep = (array, dims)
    return buffer


class ReferenceNetwork:
    """The compiled cost model inside the plugin of the wheel. Safe to call from several threads."""

    def __init__(self, plugin):
        os.environ.setdefault("HL_NUM_THREADS", "1")
        self.function = ctypes.CDLL(str(plugin)).cost_model
        self.lock = threading.Lock()

    def costs(self, weights, blob, num_cores):
        """Cost of each stage in ms."""
        schedule, algorithm = records(blob)
        stages = len(schedule)
        kinds = algorithm[:, 7:].reshape(stages, 40, 7).transpose(0, 2, 1)
        prediction, loss = numpy.zeros(1, "f4"), numpy.zeros((), "f4")
        per_stage = numpy.zeros((stages, 1), "f4")
        one = (Dimension * 1)(Dimension(0, 1, 1, 0))
        runtime = Buffer(0, None, None, 0, 2, 32, 1, 1, one, None)
        inputs = [wrap(numpy.ascontiguousarray(a, "f4")) for a in (kinds, schedule[:, :, None])]
        network = [wrap(numpy.ascontiguousarray(w)) for w in weights]
        outputs = [wrap(a) for a in (prediction, per_stage, loss)]
        numbers = [ctypes.c_int32(n) for n in (stages, 1, num_cores, 0)]
        with self.lock:
            status = self.function(
                *numbers, *map(ctypes.byref, inputs + network), ctypes.c_float(0),
                ctypes.c_int32(0), ctypes.c_int32(0), ctypes.byref(runtime),
                *map(ctypes.byref, outputs))
        if status != 0:
            raise RuntimeError(f"the cost model of the reference returned {status}")
        return per_stage[:, 0].astype(float)
