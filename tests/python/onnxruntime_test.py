#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lightnetrt.compat.onnxruntime against facts about ONNX Runtime: names, types, shapes, messages.

Usage: onnxruntime_test.py BUILD-FOLDER. Exits with 77 where the package, NumPy or ONNX is missing.
"""
import ctypes
import json
import pickle
import resource
import sys
import tempfile
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    import lightnetrt
    import lightnetrt.compat.onnxruntime as ort
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

W = np.arange(6, dtype="float32").reshape(3, 2)
needs_c_abi = unittest.skipUnless(hasattr(ctypes.CDLL(lightnetrt._core.__file__), "OrtGetApiBase"),
                                  "this build of lightnetrt is without the C ABI")


def model(kind=TensorProto.FLOAT, node=None, metadata={}):
    graph = helper.make_graph(
        [node or helper.make_node("MatMul", ["x", "w"], ["y"])], "the graph",
        [helper.make_tensor_value_info("x", kind, ["batch", 3])],
        [helper.make_tensor_value_info("y", kind, ["batch", 3 if node else 2])],
        [] if node else [numpy_helper.from_array(W, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], producer_name="maker")
    made.ir_version = 8
    helper.set_model_props(made, metadata)
    return made.SerializeToString()


class Session(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(model(metadata={"sample_rate": "16000"}), providers=["CPUExecutionProvider"])
        self.x = np.random.default_rng(0).random((4, 3), dtype="float32")

    def test_inputs_and_outputs(self):
        x, y = self.session.get_inputs()[0], self.session.get_outputs()[0]
        self.assertEqual((x.name, x.shape, x.type), ("x", ["batch", 3], "tensor(float)"))
        self.assertEqual((y.name, y.shape, y.type), ("y", ["batch", 2], "tensor(float)"))

    def test_types_by_name(self):
        for kind, name in ((TensorProto.DOUBLE, "double"), (TensorProto.FLOAT16, "float16"), (TensorProto.INT64, "int64"),
                           (TensorProto.UINT8, "uint8"), (TensorProto.BOOL, "bool"), (TensorProto.STRING, "string"),
                           (TensorProto.BFLOAT16, "bfloat16")):
            session = ort.InferenceSession(model(kind, helper.make_node("Identity", ["x"], ["y"])))
            self.assertEqual(session.get_inputs()[0].type, f"tensor({name})")

    def test_types_of_sequences(self):
        node = helper.make_node("SplitToSequence", ["x"], ["y"])
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                                  [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
        made.ir_version = 8
        session = ort.InferenceSession(made.SerializeToString())
        self.assertEqual(session.get_outputs()[0].type, "seq(tensor(float))")
        (rows,) = session.run(None, {"x": np.float32([[1, 2, 3], [4, 5, 6]])})
        self.assertEqual([row.tolist() for row in rows], [[[1, 2, 3]], [[4, 5, 6]]])

    def test_metadata(self):
        meta = self.session.get_modelmeta()
        self.assertEqual(meta.custom_metadata_map, {"sample_rate": "16000"})
        self.assertEqual((meta.producer_name, meta.graph_name), ("maker", "the graph"))
        made = onnx.load_from_string(model())
        made.model_version, made.domain, made.doc_string, made.graph.doc_string = 7, "a.domain", "a model", "a graph"
        for options in self.each_way():
            meta = ort.InferenceSession(made.SerializeToString(), options).get_modelmeta()
            self.assertEqual((meta.version, meta.domain, meta.description, meta.graph_description),
                             (7, "a.domain", "a model", "a graph"))

    def each_way(self):
        """Options of sessions of the module, and of those that go through the C ABI."""
        yield ort.SessionOptions()
        if hasattr(ctypes.CDLL(lightnetrt._core.__file__), "OrtGetApiBase"):
            options = ort.SessionOptions()
            options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(W))
            yield options

    def test_lists_of_numbers_take_the_type_of_the_input(self):
        for options in self.each_way():
            session = ort.InferenceSession(model(), options)
            for feed in [[1, 2, 3]], ((1, 2, 3),), [[1.0, 2.0, 3]]:
                self.assertEqual(session.run(None, {"x": feed})[0].tolist(), [[16, 22]])
            for feed in [[1, 2, 3], [1]], [["a", "b", "c"]], None:
                with self.assertRaises(ort.InvalidArgument):
                    session.run(None, {"x": feed})

    def test_a_callback_gets_results_or_the_reason(self):
        for feed, wanted in ({"x": self.x}, 1), ({"x": self.x.astype("float64")}, 0):
            calls, is_done = [], threading.Event()

            def callback(*arguments):
                calls.append(arguments)
                is_done.set()
            self.session.run_async(["y"], feed, callback, "user")
            self.assertTrue(is_done.wait(60))
            ((results, user, reason),) = calls
            self.assertEqual((len(results), user, bool(reason)), (wanted, "user", not wanted))
            for y in results:
                np.testing.assert_allclose(y, self.x @ W, rtol=1e-5)
        self.assertIn("Unexpected input data type", reason)

    def test_run(self):
        for names in (None, [], ["y"]):
            (y,) = self.session.run(names, {"x": self.x})
            self.assertEqual(type(y), np.ndarray)
            np.testing.assert_allclose(y, self.x @ W, rtol=1e-5)

    def test_refusals_have_the_messages_that_programs_know(self):
        cases = [
            (None, {"x": self.x.astype("float64")}, ort.InvalidArgument,
             r"^\[ONNXRuntimeError\] : 2 : INVALID_ARGUMENT : Unexpected input data type. Actual: \(tensor\(double\)\) , "
             r"expected: \(tensor\(float\)\)"),
            (None, {"x": self.x[0]}, ort.InvalidArgument, "Invalid rank for input: x Got: 1 Expected: 2"),
            (None, {"x": self.x[:, :2]}, ort.InvalidArgument, "Got invalid dimensions for input: x .*\n index: 1 Got: 2 Expected: 3"),
            (None, {}, ValueError, r"Required inputs \(\['x'\]\) are missing"),
            (None, {"x": self.x, "z": self.x}, ort.InvalidArgument, "Invalid input name: z"),
            (["q"], {"x": self.x}, ort.InvalidArgument, "Invalid output name: q"),
        ]
        for names, feed, kind, message in cases:
            with self.assertRaisesRegex(kind, message):
                self.session.run(names, feed)

    def test_one_element_of_any_rank_is_a_scalar(self):
        for kind, dtype in (TensorProto.INT64, "int64"), (TensorProto.BOOL, "bool"), (TensorProto.FLOAT, "float32"):
            value = helper.make_tensor_value_info
            graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", kind, [])],
                                      [value("y", kind, [])])
            made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
            made.ir_version = 8
            session = ort.InferenceSession(made.SerializeToString())
            for shape in (), (1,), (1, 1):
                (y,) = session.run(None, {"x": np.ones(shape, dtype)})
                self.assertEqual((y.shape, y.item()), ((), 1))
            with self.assertRaisesRegex(ort.InvalidArgument, "Invalid rank for input: x Got: 1 Expected: 0"):
                session.run(None, {"x": np.ones(2, dtype)})

    def test_files(self):
        with self.assertRaisesRegex(ort.NoSuchFile, "3 : NO_SUCHFILE : .*File doesn't exist"):
            ort.InferenceSession("/nowhere/x.onnx")
        with self.assertRaises(ort.capi.onnxruntime_pybind11_state.InvalidProtobuf):
            ort.InferenceSession(model()[:60])

    def test_providers(self):
        self.assertEqual(ort.get_available_providers(), ["CPUExecutionProvider"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session = ort.InferenceSession(model(), providers=[("CUDAExecutionProvider", {"device_id": 0}),
                                                               "CPUExecutionProvider"])
        self.assertIn("'CUDAExecutionProvider' is not in available provider names", str(caught[0].message))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
        session.disable_fallback()
        session.enable_fallback()
        with self.assertRaisesRegex(ValueError, "CUDAExecutionProvider"):
            ort.InferenceSession(model(), providers=["CUDAExecutionProvider"])
        with self.assertRaisesRegex(ValueError, "a list, such as .'CPUExecutionProvider'."):
            ort.InferenceSession(model(), providers="CPUExecutionProvider")

    def test_options(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level, options.enable_cpu_mem_arena = 3, False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_free_dimension_override_by_name("batch", 4)
        session = ort.InferenceSession(model(), sess_options=options)
        self.assertEqual(session.get_inputs()[0].shape, [4, 3])
        self.assertEqual(options.get_session_config_entry("session.intra_op.allow_spinning"), "0")
        np.testing.assert_allclose(session.run(None, {"x": self.x})[0], self.x @ W, rtol=1e-5)

    def test_an_override_of_a_dimension_that_no_input_has_is_unused(self):
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name("sequence", 7)
        options.add_free_dimension_override_by_name("batch", 4)
        session = ort.InferenceSession(model(), sess_options=options)
        self.assertEqual(session.get_inputs()[0].shape, [4, 3])
        with self.assertRaises(LookupError):
            lightnetrt.load(model(), symbols={"sequence": 7, "batch": 4})

    def test_allocators_and_providers_of_programs_are_taken(self):
        info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        for cfg in None, ort.OrtArenaCfg(0, -1, -1, -1), ort.OrtArenaCfg({"max_mem": 1 << 20}):
            ort.create_and_register_allocator(info, cfg)
        with self.assertRaises(ort.RuntimeException):
            ort.OrtMemoryInfo("Cuda", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        with self.assertRaises(TypeError):
            ort.create_and_register_allocator("Cpu", None)
        ort.enable_telemetry_events()
        options = ort.SessionOptions()
        options.add_session_config_entry("session.use_env_allocators", "1")
        self.assertFalse(options.has_providers())
        with self.assertRaises(ort.Fail):
            options.add_provider("CUDAExecutionProvider", {})
        options.add_provider("CPUExecutionProvider", {})
        self.assertTrue(options.has_providers())
        (y,) = ort.InferenceSession(model(), options).run(None, {"x": self.x})
        np.testing.assert_allclose(y, self.x @ W, rtol=1e-5)

    def test_each_code_has_a_class(self):
        state = ort.capi.onnxruntime_pybind11_state
        names = ("Fail InvalidArgument NoSuchFile NoModel EngineError RuntimeException InvalidProtobuf ModelLoaded "
                 "NotImplemented InvalidGraph EPFail").split()
        for code, name in enumerate(names, 1):
            self.assertTrue(str(getattr(state, name)("why")).startswith(f"[ONNXRuntimeError] : {code} : "))

    def test_options_are_those_that_there_are(self):
        for options in ort.SessionOptions(), ort.RunOptions():
            with self.assertRaisesRegex(AttributeError, "log_severity"):
                options.log_severity = 3
            options.log_severity_level = 3
        with self.assertRaises(AttributeError):
            ort.SessionOptions().intra_op_threads = 2
        ort.SessionOptions().use_per_session_threads = False

    def test_options_are_of_their_types(self):
        cases = (("intra_op_num_threads", "two"), ("intra_op_num_threads", 2.5), ("intra_op_num_threads", None),
                 ("inter_op_num_threads", 2**31), ("graph_optimization_level", "all"), ("graph_optimization_level", 7),
                 ("execution_mode", 2), ("enable_mem_pattern", "no"), ("enable_profiling", None), ("logid", 3),
                 ("optimized_model_filepath", 3))
        options = ort.SessionOptions()
        for name, value in cases:
            before = getattr(options, name)
            with self.assertRaisesRegex(TypeError, f"SessionOptions.{name} is .*, not {value!r}"):
                setattr(options, name, value)
            self.assertEqual(getattr(options, name), before)
        with self.assertRaisesRegex(TypeError, "RunOptions.log_severity_level is int, not 'high'"):
            ort.RunOptions().log_severity_level = "high"
        with self.assertRaisesRegex(TypeError, "RunOptions.terminate is bool, not 'yes'"):
            ort.RunOptions().terminate = "yes"
        options.graph_optimization_level, options.enable_mem_pattern, options.optimized_model_filepath = 99, 0, Path("a")
        self.assertEqual((options.graph_optimization_level, options.enable_mem_pattern, options.optimized_model_filepath),
                         (ort.GraphOptimizationLevel.ORT_ENABLE_ALL, False, "a"))

    def test_a_negative_number_of_threads_is_the_default(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = -1
        session = ort.InferenceSession(model(), options)
        np.testing.assert_allclose(session.run(None, {"x": self.x})[0], self.x @ W, rtol=1e-5)

    def test_without_a_profile_there_is_no_file(self):
        self.assertEqual((self.session.end_profiling(), self.session.get_profiling_start_time_ns()), ("", 0))

    @needs_c_abi
    def test_profiles_have_runs_and_operators(self):
        options = ort.SessionOptions()
        options.enable_profiling = True
        with tempfile.TemporaryDirectory() as folder:
            options.profile_file_prefix, options.optimized_model_filepath = f"{folder}/times", f"{folder}/m.onnx"
            session = ort.InferenceSession(model(), options)
            options.enable_profiling = False  # which is for later sessions
            for _ in range(3):
                np.testing.assert_array_equal(session.run(None, {"x": self.x})[0], self.session.run(None, {"x": self.x})[0])
            self.assertLess(abs(session.get_profiling_start_time_ns() / 1e9 - time.time()), 100)
            name = session.end_profiling()
            self.assertRegex(name, r"/times_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.json$")
            events = json.loads(Path(name).read_text())
            self.assertEqual([e["name"] for e in events if e["cat"] == "Session"], ["session_initialization"] + 3 * ["model_run"])
            nodes = [e for e in events if e["cat"] == "Node"]
            self.assertEqual(len(nodes) % 3, 0)
            self.assertGreater(len(nodes), 0)
            for event in nodes:
                self.assertEqual(event["args"]["provider"], "CPUExecutionProvider")
                self.assertRegex(event["name"], "_kernel_time$")
                self.assertGreaterEqual(event["ts"], events[0]["dur"])
                self.assertTrue(any(run["ts"] <= event["ts"] and event["ts"] + event["dur"] <= run["ts"] + run["dur"]
                                    for run in events if run["name"] == "model_run"))
            self.assertEqual(sorted(p.name for p in Path(folder).iterdir()), sorted(["m.onnx", Path(name).name]))

    def test_run_options_terminate(self):
        options = ort.RunOptions()
        options.terminate = True
        with self.assertRaisesRegex(ort.Fail, "terminate flag"):
            self.session.run(None, {"x": self.x}, options)
        options.terminate = False
        self.session.run(None, {"x": self.x}, options)

    def test_ort_values_and_bindings(self):
        value = ort.OrtValue.ortvalue_from_numpy(self.x)
        self.assertEqual((value.shape(), value.data_type(), value.device_name()), ([4, 3], "tensor(float)", "cpu"))
        for elements in (self.x, np.array(["a", "b"]), np.array(["a"], object), np.ones(2, "float16"), np.ones(2, bool)):
            stored = numpy_helper.from_array(elements.astype(object) if elements.dtype.kind == "U" else elements)
            self.assertEqual(ort.OrtValue.ortvalue_from_numpy(elements).element_type(), stored.data_type)
        for number in (TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT16):
            self.assertEqual(ort.OrtValue.ortvalue_from_shape_and_type([2], number).element_type(), number)
        for number in (TensorProto.BFLOAT16, TensorProto.STRING, 999):
            with self.assertRaisesRegex(ort.InvalidArgument, "NumPy has no type"):
                ort.OrtValue.ortvalue_from_shape_and_type([2], number)
        (y,) = self.session.run_with_ort_values(["y"], {"x": value})
        np.testing.assert_allclose(y.numpy(), self.x @ W, rtol=1e-5)
        binding, out = self.session.io_binding(), np.zeros((4, 2), "float32")
        binding.bind_input("x", "cpu", 0, np.float32, self.x.shape, self.x.ctypes.data)
        binding.bind_output("y", "cpu", 0, np.float32, out.shape, out.ctypes.data)
        self.session.run_with_iobinding(binding)
        np.testing.assert_allclose(out, self.x @ W, rtol=1e-5)
        binding = self.session.io_binding()
        binding.bind_cpu_input("x", self.x)
        binding.bind_output("y")
        self.session.run_with_iobinding(binding)
        self.assertTrue(np.array_equal(binding.copy_outputs_to_cpu()[0], out))
        binding.clear_binding_outputs()
        self.assertEqual((binding.copy_outputs_to_cpu(), binding.get_outputs()), ([], []))
        for other in np.zeros((4, 2), "int32"), np.zeros((2, 4), "float32"):
            binding.bind_output("y", "cpu", 0, other.dtype, other.shape, other.ctypes.data)
            with self.assertRaisesRegex(ort.InvalidArgument, "output 'y' is float32.4, 2., what is bound to it"):
                self.session.run_with_iobinding(binding)
            self.assertFalse(other.any())

    def test_kinds_of_values(self):
        tensor, items = ort.OrtValue.ortvalue_from_numpy(self.x), ort.OrtValue([self.x])
        for value, kinds in (tensor, (True, False)), (items, (False, True)), (ort.OrtValue([]), (False, True)):
            self.assertEqual((value.is_tensor(), value.is_tensor_sequence(), value.has_value()), (*kinds, True))
        self.assertEqual((items.data_type(), ort.OrtValue([]).data_type()), ("seq(tensor(float))",) * 2)
        tensor.update_inplace(np.zeros((4, 3), "float32"))
        self.assertFalse(self.x.any())

    def test_the_model_is_written_where_options_say(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "a.onnx", "a.opt", "a":
                options = ort.SessionOptions()
                options.optimized_model_filepath = Path(folder, name)
                ort.InferenceSession(model(), options)
                (y,) = ort.InferenceSession(Path(folder, name)).run(None, {"x": self.x})
                np.testing.assert_allclose(y, self.x @ W, rtol=1e-5)
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ["a", "a.onnx", "a.opt"])
            Path(folder, "folder").mkdir()
            for name in "none/a.onnx", "none/a", "folder":
                options.optimized_model_filepath = Path(folder, name)
                with self.assertRaisesRegex(ort.Fail, "cannot (create|write) "):
                    ort.InferenceSession(model(), options)
            self.assertEqual(len(list(Path(folder).iterdir())), 4)

    def test_sizes_of_values(self):
        sizes = [(np.zeros((4, 3), "float32"), 48), (np.zeros((0, 3), "int64"), 0), (np.float16(1), 2), (np.array(True), 1)]
        for array, size in sizes:
            self.assertEqual(ort.OrtValue.ortvalue_from_numpy(array).tensor_size_in_bytes(), size)
        for value in np.array(["a"], object), [np.zeros(2, "float32")]:
            with self.assertRaisesRegex(ort.InvalidArgument, "only a tensor of numbers"):
                ort.OrtValue(value).tensor_size_in_bytes()

    def test_unknown_names_are_refused(self):
        binding, value = self.session.io_binding(), ort.OrtValue.ortvalue_from_numpy(self.x)
        for bind in (lambda: binding.bind_cpu_input("q", self.x), lambda: binding.bind_ortvalue_input("q", value),
                     lambda: binding.bind_input("q", "cpu", 0, np.float32, self.x.shape, self.x.ctypes.data)):
            with self.assertRaisesRegex(ort.Fail, "Failed to find input name in the mapping: q; the model has x"):
                bind()
        for bind in lambda: binding.bind_output("q"), lambda: binding.bind_ortvalue_output("x", value):
            bind()
            with self.assertRaisesRegex(ort.InvalidArgument, "Invalid output name: .; the model has y"):
                self.session.run_with_iobinding(binding)
            binding.clear_binding_outputs()
        with self.assertRaisesRegex(ValueError, "needs `element_type` and `shape`"):
            binding.bind_output("y", buffer_ptr=self.x.ctypes.data)
        binding.bind_cpu_input("x", self.x)
        self.session.run_with_iobinding(binding)  # of no output
        self.assertEqual(binding.copy_outputs_to_cpu(), [])

    def test_runs_with_vectors_of_values(self):
        feeds, fetches, device = ort.OrtValueVector(), ort.OrtValueVector(), ort.OrtDevice.make("cpu", 0)
        feeds.push_back(ort.OrtValue.ortvalue_from_numpy(self.x)._ortvalue)
        self.session.run_with_ortvaluevector(ort.RunOptions(), ["x"], feeds, ["y"], fetches, [device._get_c_device()])
        (y,) = (ort.OrtValue(value).numpy() for value in fetches)
        np.testing.assert_allclose(y, self.x @ W, rtol=1e-5)
        out = np.zeros((4, 2), "float32")
        fetches = ort.OrtValueVector([ort.OrtValue.ortvalue_from_numpy(out)])
        self.session.run_with_ortvaluevector(None, ["x"], feeds, ["y"], fetches, [device])
        self.assertEqual(out.tolist(), y.tolist())
        self.assertIs(fetches[0].numpy(), out)
        for names, values in (["x", "z"], feeds), (["x"], ort.OrtValueVector()):
            with self.assertRaisesRegex(ort.InvalidArgument, "names of inputs"):
                self.session.run_with_ortvaluevector(None, names, values, ["y"], ort.OrtValueVector(), [device])
        with self.assertRaisesRegex(ort.InvalidArgument, "1 names of outputs, and 2 values"):
            self.session.run_with_ortvaluevector(None, ["x"], feeds, ["y"], fetches + fetches, [device])

    @needs_c_abi
    def test_initializers_are_replaced(self):
        options, w = ort.SessionOptions(), np.float32([[1, -1], [2, 0], [0, 3]])
        options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(w))
        with self.assertRaisesRegex(ort.InvalidArgument, "'w' has been added already"):
            options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(w))
        with self.assertRaisesRegex(TypeError, "'v' is an OrtValue, not ndarray"):
            options.add_initializer("v", w)
        session = ort.InferenceSession(model(), options)
        self.assertEqual(session.run(None, {"x": np.float32([[1, 2, 3]])})[0].tolist(), [[5, 8]])
        self.assertEqual(self.session.run(None, {"x": np.float32([[1, 2, 3]])})[0].tolist(), [[16, 22]])
        wrong = ort.SessionOptions()
        wrong.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(w.T.copy()))
        with self.assertRaisesRegex(ort.InvalidArgument, "initializer 'w': the model states another type or shape"):
            ort.InferenceSession(model(), wrong)

    @needs_c_abi
    def test_external_initializers_are_replaced(self):
        made = onnx.load_from_string(model())
        weights = made.graph.initializer[0]
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        weights.external_data.add(key="location", value="nowhere.bin")
        options = ort.SessionOptions()
        options.add_external_initializers(["w"], [ort.OrtValue.ortvalue_from_numpy(W)])
        session = ort.InferenceSession(made.SerializeToString(), options)
        np.testing.assert_allclose(session.run(None, {"x": self.x})[0], self.x @ W, rtol=1e-5)
        with self.assertRaises(ort.Fail):  # its data is in the model
            ort.InferenceSession(model(), options)
        with self.assertRaisesRegex(ort.InvalidArgument, "1 names, and 0 values"):
            options.add_external_initializers(["v"], [])
        with self.assertRaisesRegex(ort.InvalidArgument, "'w' has been added already"):
            options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(W))

    def test_files_in_memory_have_the_stated_lengths(self):
        made = onnx.load_from_string(model())
        weights = made.graph.initializer[0]
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        weights.external_data.add(key="location", value="w.bin")
        for length in 24, 20:
            options = ort.SessionOptions()
            options.add_external_initializers_from_files_in_memory(["w.bin"], [W.tobytes() + bytes(8)], [length])
            if length < 24:
                with self.assertRaisesRegex(ort.InvalidArgument, "'w.bin' has 20 bytes"):
                    ort.InferenceSession(made.SerializeToString(), options)
            else:
                session = ort.InferenceSession(made.SerializeToString(), options)
                np.testing.assert_allclose(session.run(None, {"x": self.x})[0], self.x @ W, rtol=1e-5)

    def test_initializers_are_overridden(self):
        graph = helper.make_graph([helper.make_node("Add", ["x", "b"], ["y"])], "g",
                                  [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xb"],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
                                  [numpy_helper.from_array(np.float32([10, 20]), "b")])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
        made.ir_version = 8
        session = ort.InferenceSession(made.SerializeToString())
        self.assertEqual([i.name for i in session.get_inputs()], ["x"])
        self.assertEqual([i.name for i in session.get_overridable_initializers()], ["b"])
        x = np.float32([1, 2])
        self.assertEqual(session.run(None, {"x": x})[0].tolist(), [11, 22])
        self.assertEqual(session.run(None, {"x": x, "b": x})[0].tolist(), [2, 4])

    def test_pickle(self):
        again = pickle.loads(pickle.dumps(self.session))
        np.testing.assert_allclose(again.run(None, {"x": self.x})[0], self.x @ W, rtol=1e-5)


OPERATORS = BUILD / "tests/ort_custom_ops.so"  # tests/compat/ort_custom_ops.c


def custom_model(nodes, inputs, outputs, initializers=(), metadata={}):
    """Nodes are (type, inputs, outputs, attributes), values (name, number of the element type, shape)."""
    graph = helper.make_graph(
        [helper.make_node(kind, *arguments, name=f"node {i}", domain="test.custom", **attributes)
         for i, (kind, *arguments, attributes) in enumerate(nodes)], "the graph",
        [helper.make_tensor_value_info(*item) for item in inputs],
        [helper.make_tensor_value_info(*item) for item in outputs], list(initializers))
    made = helper.make_model(graph, producer_name="maker",
                             opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("test.custom", 1)])
    made.ir_version = 8
    helper.set_model_props(made, metadata)
    return made.SerializeToString()


@unittest.skipUnless(OPERATORS.exists(), "the library of operators is not built")
class CustomOperators(unittest.TestCase):
    def setUp(self):
        self.options = ort.SessionOptions()
        self.options.register_custom_ops_library(OPERATORS)

    def session(self, *model, **more):
        return ort.InferenceSession(custom_model(*model, **more), self.options)

    def test_model(self):
        session = self.session([("Twice", ["x"], ["y"], {})], [("x", TensorProto.FLOAT, ["N", 3])],
                               [("y", TensorProto.FLOAT, ["N", 3])], metadata={"rate": "16000"})
        x = np.random.default_rng(0).random((4, 3), dtype="float32")
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], x * 2)
        np.testing.assert_array_equal(session.run(["y"], {"x": x.T.copy().T})[0], x * 2)
        item, meta = session.get_inputs()[0], session.get_modelmeta()
        self.assertEqual((item.name, item.shape, item.type), ("x", ["N", 3], "tensor(float)"))
        self.assertEqual((meta.producer_name, meta.graph_name, meta.custom_metadata_map),
                         ("maker", "the graph", {"rate": "16000"}))

    def test_elements_of_each_type(self):
        values = {"b": (TensorProto.BOOL, np.array([True, False])), "s": (TensorProto.STRING, np.array(["ä", ""], object)),
                  "h": (TensorProto.FLOAT16, np.float16([1.5, -2])), "d": (TensorProto.DOUBLE, np.array([1e300, 2])),
                  "i": (TensorProto.INT64, np.array([2**62 + 1, -1])), "u": (TensorProto.UINT8, np.uint8([255, 0])),
                  "w": (TensorProto.BFLOAT16, np.uint16([0x3f80, 0x4000]))}
        names = list(values)
        session = self.session(
            [("Copies", names, [f"{name}_out" for name in names], {})], [(n, values[n][0], [2]) for n in names],
            [(f"{n}_out", values[n][0], [2]) for n in names])
        results = session.run(None, {name: array for name, (_, array) in values.items()})
        for name, result in zip(names, results):
            self.assertEqual((result.dtype, result.tolist()), (values[name][1].dtype, values[name][1].tolist()), name)

    def test_sizes_that_the_kernel_says(self):
        session = self.session([("Positive", ["x"], ["y", "at"], {})], [("x", TensorProto.FLOAT, [3])],
                               [("y", TensorProto.FLOAT, ["K"]), ("at", TensorProto.INT64, ["K"])])
        for x in ([1, -2, 3], [-1, -2, -3], [1, 2, 3]):
            y, at = session.run(None, {"x": np.float32(x)})
            self.assertEqual((y.tolist(), at.tolist()),
                             ([v for v in x if v > 0], [i for i, v in enumerate(x) if v > 0]))

    def test_failures(self):
        model = [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])]
        with self.assertRaisesRegex(ort.RuntimeException, "no kernel today"):
            self.session([("Fails", ["x"], ["y"], {"where": 0})], *model)
        session = self.session([("Fails", ["x"], ["y"], {"where": 1})], *model)
        with self.assertRaisesRegex(ort.RuntimeException, "x begins with a negative number"):
            session.run(None, {"x": np.float32([-1, 2])})
        self.assertEqual(session.run(None, {"x": np.float32([1, 2])})[0].tolist(), [1, 2])
        with self.assertRaises(ort.InvalidArgument):
            session.run(None, {"x": np.float32([1, 2, 3])})
        with self.assertRaisesRegex(ort.Fail, "/none.so"):
            ort.SessionOptions().register_custom_ops_library("/none.so")
        with self.assertRaises(ort.NoSuchFile):
            ort.InferenceSession("/none.onnx", self.options)
        with self.assertRaises(ort.InvalidGraph):  # other options do not have the operators
            ort.InferenceSession(custom_model([("Twice", ["x"], ["y"], {})], *model))

    def test_runs_end(self):
        session = self.session([("Twice", ["x"], ["y"], {})], [("x", TensorProto.FLOAT, [2])],
                               [("y", TensorProto.FLOAT, [2])])
        options = ort.RunOptions()
        options.terminate = True
        with self.assertRaises(ort.Fail):
            session.run(None, {"x": np.float32([1, 2])}, options)
        options.terminate = False
        self.assertEqual(session.run(None, {"x": np.float32([1, 2])}, options)[0].tolist(), [2, 4])

    def test_initializers_and_bindings(self):
        weights = numpy_helper.from_array(np.float32([10, 20]), "b")
        session = self.session(
            [("SumDiff", ["x", "b"], ["y", "z"], {"factor": 1.0})],
            [(n, TensorProto.FLOAT, [2]) for n in "xb"], [(n, TensorProto.FLOAT, [2]) for n in "yz"], [weights])
        self.assertEqual([i.name for i in session.get_overridable_initializers()], ["b"])
        x = np.float32([1, 2])
        self.assertEqual(session.run(None, {"x": x})[0].tolist(), [11, 22])
        self.assertEqual(session.run(None, {"x": x, "b": x})[0].tolist(), [2, 4])
        binding, z = session.io_binding(), np.zeros(2, "float32")
        binding.bind_cpu_input("x", x)
        binding.bind_output("z", "cpu", 0, np.float32, [2], z.ctypes.data)
        session.run_with_iobinding(binding)
        self.assertEqual(z.tolist(), [-9, -18])

    def test_values_of_runs_are_freed(self):
        session = self.session([("Twice", ["x"], ["y"], {})], [("x", TensorProto.FLOAT, ["N"])],
                               [("y", TensorProto.FLOAT, ["N"])])
        x = np.ones(1 << 20, "float32")
        session.run(None, {"x": x})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(100):  # of 4 MiB each
            session.run(None, {"x": x})
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 100 * 1024)

    def test_threads(self):
        session = self.session([("Count", ["x"], ["y", "z"], {})], [("x", TensorProto.FLOAT, [1])],
                               [("y", TensorProto.FLOAT, [1]), ("z", TensorProto.INT64, [1])])
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda i: session.run(None, {"x": np.float32([i])}), range(200)))
        self.assertEqual([y.tolist() for y, _ in results], [[i] for i in range(200)])
        self.assertEqual(sorted(z[0] for _, z in results), list(range(1, 201)))


if __name__ == "__main__":
    unittest.main()
