#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arrays to NumPy and back, without a copy, by DLPack's capsules.

Usage: dlpack_test.py BUILD-FOLDER. Exits with 77 where there is no NumPy with DLPack.
"""
import ctypes
import sys
import unittest
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p
from pathlib import Path

try:
    import numpy
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)
if not hasattr(numpy, "from_dlpack"):
    print("skipped: NumPy %s has no from_dlpack" % numpy.__version__)
    sys.exit(77)

VERSIONED = numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0"


class DataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


FLOAT32, INT32 = DataType(2, 32, 1), DataType(0, 32, 1)

lib = ctypes.CDLL(str(Path(sys.argv.pop(1)) / "liblightnet.so"))
lib.ln_error_message.restype = c_char_p
for name in ("ln_ndarray_to_dlpack", "ln_ndarray_to_dlpack_versioned", "ln_ndarray_data", "ln_context_create"):
    getattr(lib, name).restype = c_void_p
lib.ln_ndarray_elem_count.restype = c_size_t
lib.ln_ndarray_shape.restype = POINTER(c_int64)
lib.ln_ndarray_dtype.restype = DataType
for name in ("is_contiguous", "is_shared", "is_read_only"):
    getattr(lib, "ln_ndarray_" + name).restype = ctypes.c_bool


def check(status):
    if status:
        raise RuntimeError(lib.ln_error_message().decode())


# ---- Capsules ----

def python_function(name, restype, *argtypes):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = restype, argtypes
    return function


capsule_new = python_function("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
capsule_pointer = python_function("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
capsule_rename = python_function("PyCapsule_SetName", c_int, ctypes.py_object, c_char_p)
# With the address of an object that is about to go, which must not be counted.
dying_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
dying_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))

NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
USED = {False: b"used_dltensor", True: b"used_dltensor_versioned"}
DELETER_AT = {False: 56, True: 16}  # offset of `deleter` in the record


@ctypes.PYFUNCTYPE(None, c_void_p)
def forget_capsule(capsule):
    """A capsule that nobody has consumed still owns its record."""
    for versioned, name in NAMES.items():
        if dying_is_valid(capsule, name):
            record = dying_pointer(capsule, name)
            deleter = c_void_p.from_address(record + DELETER_AT[versioned]).value
            ctypes.CFUNCTYPE(None, c_void_p)(deleter)(record)


class Array:
    """An ln_ndarray, as a producer for other libraries."""

    def __init__(self, handle):
        self.handle = c_void_p(handle)

    def __del__(self):
        lib.ln_ndarray_release(self.handle)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = max_version is not None and max_version[0] >= 1
        export = lib.ln_ndarray_to_dlpack_versioned if versioned else lib.ln_ndarray_to_dlpack
        record = export(self.handle)
        if not record:
            raise BufferError(lib.ln_error_message().decode())
        return capsule_new(record, NAMES[versioned], ctypes.cast(forget_capsule, c_void_p))

    @staticmethod
    def of(producer, versioned=False):
        """Takes another library's array over."""
        capsule = producer.__dlpack__(max_version=(1, 1)) if versioned else producer.__dlpack__()
        record = capsule_pointer(capsule, NAMES[versioned])
        capsule_rename(capsule, USED[versioned])
        take = lib.ln_ndarray_from_dlpack_versioned if versioned else lib.ln_ndarray_from_dlpack
        handle = c_void_p()
        check(take(c_void_p(record), byref(handle)))
        return Array(handle.value)

    @staticmethod
    def zeros(shape, dtype):
        handle = c_void_p()
        check(lib.ln_ndarray_create(len(shape), (c_int64 * len(shape))(*shape), dtype, byref(handle)))
        return Array(handle.value)

    def transposed(self):
        handle = c_void_p()
        check(lib.ln_ndarray_transpose(self.handle, None, byref(handle)))
        return Array(handle.value)

    def values(self):
        """The elements by another way: our own copy, as bytes."""
        ndim = lib.ln_ndarray_ndim(self.handle)
        shape = lib.ln_ndarray_shape(self.handle)[:ndim] if ndim else []
        dtype = lib.ln_ndarray_dtype(self.handle)
        kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}[dtype.code]
        numbers = numpy.zeros(shape, numpy.dtype("%s%d" % (kind, dtype.bits // 8)))
        pointer = c_void_p(numbers.ctypes.data) if numbers.size else None
        check(lib.ln_ndarray_get_bytes(self.handle, pointer, c_size_t(numbers.nbytes)))
        return numbers.astype(bool) if kind == "b" else numbers


COUNTING = numpy.arange(24, dtype=numpy.int32).reshape(2, 3, 4)


class ToNumpy(unittest.TestCase):
    def test_memory_is_shared_and_given_back(self):
        array = Array.zeros([2, 3], FLOAT32)
        view = numpy.from_dlpack(array)
        self.assertEqual(view.shape, (2, 3))
        self.assertEqual(view.dtype, numpy.float32)
        self.assertEqual(view.ctypes.data, lib.ln_ndarray_data(array.handle))
        check(lib.ln_ndarray_fill(array.handle, ctypes.c_double(3)))
        self.assertTrue((view == 3).all())
        self.assertTrue(lib.ln_ndarray_is_shared(array.handle))
        del view
        self.assertFalse(lib.ln_ndarray_is_shared(array.handle))

    def test_the_memory_outlives_our_handle(self):
        array = Array.zeros([3], INT32)
        check(lib.ln_ndarray_fill(array.handle, ctypes.c_double(5)))
        view = numpy.from_dlpack(array)
        del array
        self.assertEqual(view.tolist(), [5, 5, 5])

    def test_strides_go_along(self):
        array = Array.zeros([2, 3], INT32)
        check(lib.ln_ndarray_set_bytes(array.handle, (c_int32 * 6)(*range(6)), c_size_t(24)))
        turned = array.transposed()
        self.assertEqual(numpy.from_dlpack(turned).tolist(), [[0, 3], [1, 4], [2, 5]])

    def test_an_unused_capsule_gives_the_memory_back(self):
        array = Array.zeros([3], INT32)
        capsule = array.__dlpack__()
        self.assertTrue(lib.ln_ndarray_is_shared(array.handle))
        del capsule
        self.assertFalse(lib.ln_ndarray_is_shared(array.handle))

    def test_scalars_and_nothing(self):
        self.assertEqual(numpy.from_dlpack(Array.zeros([], FLOAT32)).shape, ())
        self.assertEqual(numpy.from_dlpack(Array.zeros([0, 3], FLOAT32)).shape, (0, 3))


class FromNumpy(unittest.TestCase):
    LAYOUTS = {
        "compact": COUNTING,
        "turned": COUNTING.T,
        "every second": COUNTING[:, :, ::2],
        "backwards": COUNTING[::-1, :, ::-1],
        "a part": COUNTING[1:, 1:2, 1:3],
        "other axes": COUNTING.transpose(1, 2, 0),
        "a scalar": numpy.array(7, numpy.int32),
        "nothing": COUNTING[:, 3:],
        "a broadcast row, copied": numpy.ascontiguousarray(numpy.broadcast_to(COUNTING[0, 0], (5, 4))),
    }

    def test_every_layout(self):
        for versioned in [False] + [True] * VERSIONED:
            for why, numbers in self.LAYOUTS.items():
                with self.subTest(why, versioned=versioned):
                    array = Array.of(numbers, versioned)
                    self.assertEqual(array.values().tolist(), numbers.tolist())
                    if numbers.size:
                        self.assertEqual(lib.ln_ndarray_data(array.handle), numbers.ctypes.data)

    def test_every_type(self):
        kinds = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 bool"
        for kind in kinds.split():
            with self.subTest(kind):
                numbers = numpy.array([0, 1, 2], kind)
                try:
                    array = Array.of(numbers)
                except BufferError as reason:  # NumPy before 1.25 keeps its bools
                    self.assertIn("DLPack only supports", str(reason))
                    continue
                self.assertEqual(array.values().tolist(), numbers.tolist())

    def test_numpy_hears_of_the_end(self):
        numbers = numpy.arange(6)
        before = sys.getrefcount(numbers)
        array = Array.of(numbers)
        self.assertEqual(sys.getrefcount(numbers), before + 1)
        turned = array.transposed()
        del array
        self.assertEqual(sys.getrefcount(numbers), before + 1)
        del turned
        self.assertEqual(sys.getrefcount(numbers), before)

    def test_writing_on_our_own_leaves_numpy_alone(self):
        numbers = numpy.arange(6)
        array = Array.of(numbers)
        check(lib.ln_ndarray_fill(array.handle, ctypes.c_double(3)))  # in place: seen
        self.assertEqual(numbers.tolist(), [3] * 6)
        check(lib.ln_ndarray_write(byref(array.handle), None))
        check(lib.ln_ndarray_fill(array.handle, ctypes.c_double(4)))
        self.assertEqual(numbers.tolist(), [3] * 6)

    def test_read_only_arrays(self):
        numbers = numpy.arange(6)
        numbers.flags.writeable = False
        if not VERSIONED:
            self.assertRaises(BufferError, Array.of, numbers)
            return
        array = Array.of(numbers, versioned=True)
        self.assertTrue(lib.ln_ndarray_is_read_only(array.handle))
        self.assertNotEqual(lib.ln_ndarray_fill(array.handle, ctypes.c_double(3)), 0)
        self.assertRaises(BufferError, array.__dlpack__)
        back = numpy.from_dlpack(array)
        self.assertFalse(back.flags.writeable)

    def test_there_and_back(self):
        again = numpy.from_dlpack(Array.of(COUNTING.T))
        self.assertEqual(again.tolist(), COUNTING.T.tolist())
        self.assertEqual(again.strides, COUNTING.T.strides)
        self.assertEqual(again.ctypes.data, COUNTING.ctypes.data)


class Capsules(unittest.TestCase):
    def test_records_with_a_version(self):
        array = Array.zeros([2, 3], INT32)
        check(lib.ln_ndarray_set_bytes(array.handle, (c_int32 * 6)(*range(6)), c_size_t(24)))
        again = Array.of(array.transposed(), versioned=True)
        self.assertEqual(again.values().tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertTrue(lib.ln_ndarray_is_shared(array.handle))
        del again
        capsule = array.__dlpack__(max_version=(1, 0))
        self.assertTrue(lib.ln_ndarray_is_shared(array.handle))
        del capsule
        self.assertFalse(lib.ln_ndarray_is_shared(array.handle))


MODEL = b"""
input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);
relu(src=x | dst=y |);
"""


class Models(unittest.TestCase):
    def test_numpy_in_numpy_out(self):
        check(lib.ln_arch_init())
        context = c_void_p(lib.ln_context_create())
        check(lib.ln_context_init_mem(context, MODEL, c_size_t(len(MODEL)), b"model.net"))
        check(lib.ln_context_compile(context, b"cpu"))
        check(lib.ln_context_load(context, None))
        pixels = numpy.array([[-1, 2], [3, -4], [-5, 6]], numpy.float32)
        array = Array.of(pixels.T)
        check(lib.ln_context_set_array(context, b"x", array.handle))
        check(lib.ln_context_run(context))
        handle = c_void_p()
        check(lib.ln_context_get_array(context, b"y", byref(handle)))
        result = Array(handle.value)
        if VERSIONED:
            self.assertEqual(numpy.from_dlpack(result).tolist(), [[0, 3, 0], [2, 0, 6]])
        self.assertRaises(BufferError, result.__dlpack__)  # read only
        check(lib.ln_ndarray_write(byref(result.handle), None))
        lib.ln_context_free(context)
        lib.ln_arch_cleanup()
        self.assertEqual(numpy.from_dlpack(result).tolist(), [[0, 3, 0], [2, 0, 6]])


if __name__ == "__main__":
    print("NumPy", numpy.__version__, "with" if VERSIONED else "without", "versioned records")
    unittest.main()
