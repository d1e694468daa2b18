"""The C interface from Python, by ctypes: what other languages do, on models that need strings, sequences and maps."""
import ctypes
import os

import numpy as np
import onnx
import onnx.parser
import pytest

LIBRARY = os.environ.get("WEFT_LIBRARY", "build/release/lib/libweft.so")
pytestmark = pytest.mark.skipif(not LIBRARY, reason="a sanitizer's runtime must be there before Python starts")

FLOAT32, INT64, STRING = 1, 7, 8
USAGE, INVALID = 2, 3
DTYPES = {FLOAT32: np.float32, INT64: np.int64}


class Weft:
    """The functions of libweft.so, their pointers typed; an error is an exception."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name, result in {
            "weft_last_error": ctypes.c_char_p,
            "weft_version": ctypes.c_char_p,
            "weft_session_output_count": ctypes.c_size_t,
            "weft_session_output": ctypes.c_void_p,
            "weft_value_info_type": ctypes.c_char_p,
            "weft_tensor_rank": ctypes.c_size_t,
            "weft_tensor_size": ctypes.c_size_t,
            "weft_tensor_dims": ctypes.POINTER(ctypes.c_int64),
            "weft_tensor_data": ctypes.c_void_p,
            "weft_value_item_count": ctypes.c_size_t,
            "weft_session_free": None,
            "weft_value_free": None,
        }.items():
            getattr(self.lib, name).restype = result
        self.wrapped = []  # arrays, which must outlive the tensors on their memory

    def __getattr__(self, name):
        return getattr(self.lib, "weft_" + name)

    def make(self, name, *args):
        """A handle from a call that gives one through its last argument."""
        handle = ctypes.c_void_p()
        self.check(getattr(self, name)(*args, ctypes.byref(handle)))
        return handle

    def check(self, status):
        if status != 0:
            raise RuntimeError(status, self.last_error().decode())

    def session(self, text):
        model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>' + text).SerializeToString()
        return self.make("session_load_from_memory", model, ctypes.c_size_t(len(model)), None, None)

    def wrap(self, array):
        self.wrapped.append(array)
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        dtype = {v: k for k, v in DTYPES.items()}[array.dtype.type]
        return self.make("tensor_wrap", dtype, dims, ctypes.c_size_t(array.ndim), ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def strings(self, texts):
        tensor = self.make("tensor_create", STRING, (ctypes.c_int64 * 1)(len(texts)), ctypes.c_size_t(1))
        for i, text in enumerate(texts):
            self.check(self.tensor_set_string(tensor, ctypes.c_size_t(i), text.encode(), ctypes.c_size_t(len(text.encode()))))
        return tensor

    def array(self, tensor):
        """A copy: of strings a list, else a numpy array."""
        dtype, size = self.tensor_dtype(tensor), self.tensor_size(tensor)
        if dtype == STRING:
            texts = []
            for i in range(size):
                text, length = ctypes.c_void_p(), ctypes.c_size_t()
                self.check(self.tensor_get_string(tensor, ctypes.c_size_t(i), ctypes.byref(text), ctypes.byref(length)))
                texts.append(ctypes.string_at(text, length.value).decode())
            return texts
        dims = self.tensor_dims(tensor)[: self.tensor_rank(tensor)]
        bytes_ = ctypes.string_at(self.tensor_data(tensor), size * DTYPES[dtype]().itemsize)
        return np.frombuffer(bytes_, DTYPES[dtype]).reshape(dims)

    def run(self, session, feeds, places=None):
        outputs = (ctypes.c_void_p * self.session_output_count(session))(*(places or []))
        names = (ctypes.c_char_p * len(feeds))(*(name.encode() for name in feeds))
        inputs = (ctypes.c_void_p * len(feeds))(*(value.value for value in feeds.values()))
        self.check(self.session_run(session, None, names, inputs, ctypes.c_size_t(len(feeds)), None, outputs, ctypes.c_size_t(len(outputs))))
        return [ctypes.c_void_p(handle) for handle in outputs]


@pytest.fixture(scope="module")
def weft():
    return Weft(LIBRARY)


def test_arrays_are_read_and_written_in_place(weft):
    session = weft.session("g (float[N,3] x) => (float[N,3] y, float[3] sum) { y = Neg (x) axis = Constant <value_ints = [0]> () sum = ReduceSum <keepdims = 0> (x, axis) }")
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 3), np.float32)
    place = weft.wrap(y)
    outputs = weft.run(session, {"x": weft.wrap(x)}, [place.value, None])
    assert outputs[0].value == place.value
    np.testing.assert_array_equal(y, -x)
    np.testing.assert_array_equal(weft.array(outputs[1]), [3, 5, 7])
    assert weft.value_info_type(ctypes.c_void_p(weft.session_output(session, ctypes.c_size_t(1)))) == b"float[3]"
    weft.session_free(session)
    weft.value_free(outputs[1])


def test_strings(weft):
    session = weft.session("g (string[N] a, string[M] b) => (string[K] c) { c = Concat <axis = 0> (a, b) }")
    (joined,) = weft.run(session, {"a": weft.strings(["grün", ""]), "b": weft.strings(["a\0b", "x" * 100])})
    assert weft.array(joined) == ["grün", "", "a\0b", "x" * 100]
    # Into strings that are there.
    weft.run(session, {"a": weft.strings(["p"]), "b": weft.strings(["r", "s", "t"])}, [joined.value])
    assert weft.array(joined) == ["p", "r", "s", "t"]
    weft.session_free(session)


def test_sequences(weft):
    session = weft.session("g (seq(float[2]) list, int64 at) => (float[2] item, seq(float[2]) rest) { item = SequenceAt (list, at) rest = SequenceErase (list, at) }")
    first, second = (weft.wrap(np.array(v, np.float32)) for v in ([1, 2], [3, 4]))
    items = (ctypes.c_void_p * 2)(first.value, second.value)
    listed = weft.make("sequence_create", FLOAT32, items, ctypes.c_size_t(2))
    item, rest = weft.run(session, {"list": listed, "at": weft.wrap(np.array(1, np.int64))})
    np.testing.assert_array_equal(weft.array(item), [3, 4])
    assert weft.value_item_count(rest) == 1
    np.testing.assert_array_equal(weft.array(weft.make("value_item", rest, ctypes.c_size_t(0))), [1, 2])
    weft.session_free(session)


def test_maps(weft):
    session = weft.session("g (float[N,2] p) => (seq(map(string, float)) z) { z = ai.onnx.ml.ZipMap <classlabels_strings = [\"no\", \"yes\"]> (p) }")
    (zipped,) = weft.run(session, {"p": weft.wrap(np.array([[0.25, 0.75], [1, 0]], np.float32))})
    assert weft.value_item_count(zipped) == 2
    entry = weft.make("value_item", zipped, ctypes.c_size_t(0))
    assert weft.array(weft.make("map_keys", entry)) == ["no", "yes"]
    np.testing.assert_array_equal(weft.array(weft.make("map_values", entry)), np.float32([0.25, 0.75]))
    weft.session_free(session)


def test_optionals(weft):
    session = weft.session("g (optional(float[2]) x) => (bool there) { there = OptionalHasElement (x) }")
    for item, there in ((None, b"\0"), (weft.wrap(np.float32([1, 2])), b"\1")):
        (output,) = weft.run(session, {"x": weft.make("optional_create", FLOAT32, item)})
        assert ctypes.string_at(weft.tensor_data(output), 1) == there
    weft.session_free(session)


def test_errors_have_a_code_and_one_line(weft):
    with pytest.raises(RuntimeError) as error:
        weft.session("g (float[N] x) => (float[N] y) { y = NoSuchOp (x) }")
    code, message = error.value.args
    assert code in (INVALID, 4) and "NoSuchOp" in message and "\n" not in message
    with pytest.raises(RuntimeError) as error:
        weft.make("session_load", None, None)
    assert error.value.args == (USAGE, "'path' is NULL")
