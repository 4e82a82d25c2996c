#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own backend tests, of the release that is installed, against lightnetrt.onnx_backend.

Usage: backend_test.py BUILD-FOLDER. Exits with 77 where the package or ONNX is missing. The cases that do not pass
are those in MISSES, each with its reason: one more or one less is a failure.
"""
import sys
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    for name in ("bool", "object", "int", "float"):  # which older releases of ONNX use, and NumPy has no longer
        np.__dict__.setdefault(name, getattr(__import__("builtins"), name))
    import onnx
    import onnx.backend.test
    from lightnetrt import onnx_backend
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

# The same reasons as in tests/conformance/misses.txt, where the files are the same.
RANDOM = "the numbers are random, and the stored ones are of another generator"
SHAPE = "the stored input has shape [1], the model says [3, 4]"
MISSES = {
    "test_adam_multiple_cpu": "the results were made with epsilon 0.01, which the model does not have",
    **{f"test_bernoulli{form}_cpu": RANDOM
       for form in ("", "_double", "_double_expanded", "_expanded", "_seed", "_seed_expanded")},
    **{f"test_castlike_{form}_cpu": SHAPE
       for form in ("BFLOAT16_to_FLOAT", "BFLOAT16_to_FLOAT_expanded", "FLOAT_to_BFLOAT16", "FLOAT_to_BFLOAT16_expanded")},
    "test_loop16_seq_none_cpu": "the suite cannot hold an optional without content in an array",
}


def main():
    import io
    import unittest
    tests = []
    backend = onnx.backend.test.BackendTest(onnx_backend.LightNetBackend, __name__)
    for kind in ("NodeModel", "SimpleModel", "PyTorchConverted", "PyTorchOperator"):
        case = backend.test_cases.get(f"OnnxBackend{kind}Test")
        if case:
            tests += [test for test in unittest.defaultTestLoader.loadTestsFromTestCase(case)
                      if test.id().endswith("_cpu")]
    result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(unittest.TestSuite(tests))
    failed = {test.id().rsplit(".", 1)[-1]: text.strip().splitlines()[-1]
              for test, text in result.failures + result.errors}
    count = result.testsRun - len(result.skipped)
    print(f"onnx {onnx.__version__}, opset {onnx.defs.onnx_opset_version()}: {count - len(failed)} of {count} cases pass, "
          f"{len(result.skipped)} skipped")
    assert set(MISSES) <= {test.id().rsplit(".", 1)[-1] for test in tests}, "MISSES names cases that there are not"
    unexpected = {name: why for name, why in failed.items() if name not in MISSES}
    mended = [name for name in MISSES if name not in failed]
    for name, why in sorted(unexpected.items()):
        print(f"  {name}: {why}")
    for name in mended:
        print(f"  {name}: passes now; take it out of MISSES")
    return 1 if unexpected or mended or count < 800 else 0


if __name__ == "__main__":
    sys.exit(main())
