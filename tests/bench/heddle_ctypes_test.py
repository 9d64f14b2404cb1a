"""bench/'s view of heddle.h against the header itself, and its calls against the fake driver.

arguments: the abi_layout program; optionally libheddle.so, the fake driver, the fake NVRTC.
"""

import ctypes
import json
import subprocess
import sys
import unittest

import heddle_ctypes

LAYOUT_PROGRAM, *SERVING = sys.argv[1:]

MATCHES = ("exact", "nearest_size", "other_device", "predicted", "default")
STRUCTS = {
    "problem": heddle_ctypes.Problem,
    "arguments": heddle_ctypes.Arguments,
    "quantiser": heddle_ctypes.Quantiser,
    "options": heddle_ctypes.Options,
    "prepare_result": heddle_ctypes.PrepareResult,
    "counters": heddle_ctypes.Counters,
}


class Layout(unittest.TestCase):
    def test_every_struct_is_the_headers(self):
        output = subprocess.run([LAYOUT_PROGRAM], capture_output=True, check=True).stdout
        header = json.loads(output)
        for name, struct in STRUCTS.items():
            ours = {field: getattr(struct, field).offset for field, *_ in struct._fields_}
            self.assertEqual({"": ctypes.sizeof(struct), **ours}, header[name], name)

    def test_new_structs_know_their_size_and_are_zero_otherwise(self):
        problem = heddle_ctypes.Problem(heads=3)
        self.assertEqual(problem.struct_size, ctypes.sizeof(heddle_ctypes.Problem))
        self.assertEqual((problem.heads, problem.batch, list(problem.key_strides)), (3, 0, [0] * 3))


@unittest.skipUnless(SERVING, "no library given")
class Serving(unittest.TestCase):
    def setUp(self):
        library, driver_path, nvrtc_path = SERVING
        self.driver = ctypes.CDLL(driver_path)
        self.driver.fake_cuda_reset()
        self.driver.cuInit(0)
        self.driver.fake_cuda_create_context.restype = ctypes.c_void_p
        current = ctypes.c_void_p(self.driver.fake_cuda_create_context(0))
        self.driver.cuCtxSetCurrent(current)
        self.context = heddle_ctypes.Context(
            heddle_ctypes.load_library(library),
            driver_path=driver_path,
            nvrtc_path=nvrtc_path,
            flags=heddle_ctypes.NO_DATABASE,
        )
        self.addCleanup(self.context.close)
        self.problem = heddle_ctypes.Problem(
            batch=1, heads=8, kv_heads=2, seqlen_q=1, seqlen_kv=4096, head_dim=64, num_splits=3
        )

    def memory(self):
        pointer = ctypes.c_ulonglong()
        self.driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 22))
        return pointer.value

    def arguments(self):
        return heddle_ctypes.Arguments(
            query=self.memory(), key=self.memory(), value=self.memory(), output=self.memory()
        )

    def test_a_launch_reaches_the_driver(self):
        arguments = self.arguments()
        size = self.context.workspace_bytes(self.problem, arguments)
        self.assertGreater(size, 0)  # for the partial results of three splits
        arguments.workspace, arguments.workspace_bytes = self.memory(), size
        self.context.launch(self.problem, arguments)
        self.context.launch(self.problem, arguments)
        self.driver.fake_cuda_launch_count.restype = ctypes.c_longlong
        self.assertEqual(self.driver.fake_cuda_launch_count(), 4)  # attention and combine, twice
        # workspace_bytes had made the kernels resident: one miss, then two hits.
        counters = self.context.counters()
        self.assertEqual((counters.misses, counters.hot_hits), (1, 2))

    def test_a_workspace_too_small_is_an_error(self):
        with self.assertRaises(heddle_ctypes.HeddleError) as caught:
            self.context.launch(self.problem, self.arguments())
        self.assertEqual(caught.exception.status_name, "HEDDLE_WORKSPACE_TOO_SMALL")

    def test_the_choice_is_told(self):
        choice = self.context.explain_choice(self.problem)
        # Which entry serves depends on those shipped.
        self.assertIn(choice["match"], MATCHES)
        self.assertIn("split_kv=true", choice["config"])

    def test_errors_name_the_field(self):
        self.problem.head_dim = 100
        with self.assertRaises(heddle_ctypes.HeddleError) as caught:
            self.context.prepare(self.problem)
        self.assertEqual(caught.exception.field, "head_dim")
        self.assertIn("HEDDLE_INVALID_ARGUMENT", str(caught.exception))

    def test_prepare_fills_its_result(self):
        self.assertEqual(self.context.prepare(self.problem).from_cache, 0)
        self.assertEqual(self.context.prepare(self.problem).from_cache, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
