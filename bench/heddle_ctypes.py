"""heddle's C interface (heddle/heddle.h) through ctypes: no build step, no PyTorch needed.

tests/bench compares every struct below with the header, field by field.
"""

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p

BF16, FP16, E4M3 = 0, 1, 2
FULL, CAUSAL = 0, 1
SCALES = {"head": 0, "tensor": 1, "block": 2, "token": 3}
VALUE_LAYOUTS = {"rows": 0, "transposed": 1}
ROTATE, KEY_MEAN, VALUE_MEAN = 1, 2, 4  # steps of a Quantiser
NO_DATABASE, NO_JIT = 1, 2


class Sized(Structure):
    """A struct of heddle.h: everything zero, which means default, but its own size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)


class Problem(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("batch", c_int64),
        ("heads", c_int64),
        ("kv_heads", c_int64),
        ("seqlen_q", c_int64),
        ("seqlen_kv", c_int64),
        ("head_dim", c_int64),
        ("head_dim_v", c_int64),
        ("dtype", c_int32),
        ("mask", c_int32),
        ("scale", c_double),
        ("query_strides", c_int64 * 3),
        ("key_strides", c_int64 * 3),
        ("value_strides", c_int64 * 3),
        ("output_strides", c_int64 * 3),
        ("num_splits", c_int64),
        ("features", c_uint32),
        ("direction", c_int32),
        ("window_left", c_int64),
        ("window_right", c_int64),
        ("softcap", c_double),
        ("score_snippet", c_char_p),
        ("mask_snippet", c_char_p),
        ("output_dtype", c_int32),
        ("scales", c_int32),
        ("value_layout", c_int32),
        ("reserved", c_int32),
    ]


class Arguments(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("query", c_void_p),
        ("key", c_void_p),
        ("value", c_void_p),
        ("output", c_void_p),
        ("log_sum_exp", c_void_p),
        ("workspace", c_void_p),
        ("workspace_bytes", c_size_t),
        ("cu_seqlens_q", c_void_p),
        ("cu_seqlens_kv", c_void_p),
        ("seqused_kv", c_void_p),
        ("page_table", c_void_p),
        ("bias", c_void_p),
        ("alibi_slopes", c_void_p),
        ("sinks", c_void_p),
        ("query_descale", c_void_p),
        ("key_descale", c_void_p),
        ("value_descale", c_void_p),
        ("value_mean", c_void_p),
        ("log_sum_exp_shift", c_void_p),
    ]


class Quantiser(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("dtype", c_int32),
        ("steps", c_uint32),
        ("seed", c_uint32),
        ("reserved", c_uint32),
        ("query", c_void_p),
        ("key", c_void_p),
        ("value", c_void_p),
        ("query_strides", c_int64 * 3),
        ("key_strides", c_int64 * 3),
        ("value_strides", c_int64 * 3),
    ]


Allocate = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_size_t, c_void_p, POINTER(c_void_p))
Release = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_void_p)
Log = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
Miss = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p, POINTER(Problem))


class Options(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("driver_path", c_char_p),
        ("nvrtc_path", c_char_p),
        ("results_path", c_char_p),
        ("cache_path", c_char_p),
        ("flags", c_uint64),
        ("allocate", Allocate),
        ("release", Release),
        ("allocator_user", c_void_p),
        ("log", Log),
        ("log_user", c_void_p),
        ("miss", Miss),
        ("miss_user", c_void_p),
    ]


class PrepareResult(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("match", c_int32),
        ("from_cache", c_int32),
        ("reserved", c_int32),
        ("milliseconds", c_double),
    ]


class Counters(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("compiles", c_int64),
        ("database_reads", c_int64),
        ("hot_hits", c_int64),
        ("misses", c_int64),
    ]


class HeddleError(RuntimeError):
    """A call that failed: status_name, field (may be empty) and the message with its remedy."""

    def __init__(self, status_name, field, message):
        super().__init__(f"{status_name}: {message}")
        self.status_name = status_name
        self.field = field


_PROTOTYPES = {
    "heddle_version": (ctypes.c_int, []),
    "heddle_status_name": (c_char_p, [ctypes.c_int]),
    "heddle_context_create": (ctypes.c_int, [POINTER(Options), POINTER(c_void_p)]),
    "heddle_context_destroy": (None, [c_void_p]),
    "heddle_prepare": (
        ctypes.c_int,
        [c_void_p, POINTER(Problem), c_size_t, POINTER(PrepareResult)],
    ),
    "heddle_workspace_bytes": (
        ctypes.c_int,
        [c_void_p, POINTER(Problem), POINTER(Arguments), POINTER(c_size_t)],
    ),
    "heddle_launch": (ctypes.c_int, [c_void_p, POINTER(Problem), POINTER(Arguments), c_void_p]),
    "heddle_quantise_workspace_bytes": (
        ctypes.c_int,
        [c_void_p, POINTER(Problem), POINTER(Quantiser), POINTER(c_size_t)],
    ),
    "heddle_quantise": (
        ctypes.c_int,
        [c_void_p, POINTER(Problem), POINTER(Quantiser), POINTER(Arguments), c_void_p],
    ),
    "heddle_explain_choice": (
        ctypes.c_int,
        [c_void_p, POINTER(Problem), c_char_p, c_size_t, POINTER(c_size_t)],
    ),
    "heddle_get_counters": (ctypes.c_int, [c_void_p, POINTER(Counters)]),
    "heddle_last_error": (c_char_p, [c_void_p]),
    "heddle_last_error_field": (c_char_p, [c_void_p]),
}


def load_library(path=None):
    """libheddle.so from a path, else $HEDDLE_LIBRARY, else the loader's own search."""
    library = ctypes.CDLL(path or os.environ.get("HEDDLE_LIBRARY") or "libheddle.so.0")
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


class Context:
    """Owns a heddle_context. Options are heddle_options' fields; str is taken for char*."""

    def __init__(self, library=None, **options):
        self._library = library or load_library()
        encoded = {
            name: os.fsencode(value) if isinstance(value, (str, os.PathLike)) else value
            for name, value in options.items()
        }
        # Kept: its callbacks must live as long as the context.
        self._options = Options(**encoded)
        self._handle = c_void_p()
        self._check(
            self._library.heddle_context_create(
                ctypes.byref(self._options), ctypes.byref(self._handle)
            )
        )

    def close(self):
        self._library.heddle_context_destroy(self._handle)
        self._handle = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _check(self, status):
        if status == 0:
            return
        raise HeddleError(
            self._library.heddle_status_name(status).decode(),
            self._library.heddle_last_error_field(self._handle).decode(),
            self._library.heddle_last_error(self._handle).decode(errors="replace"),
        )

    def prepare(self, problem):
        result = PrepareResult()
        self._check(
            self._library.heddle_prepare(
                self._handle, ctypes.byref(problem), 1, ctypes.byref(result)
            )
        )
        return result

    def workspace_bytes(self, problem, arguments):
        size = c_size_t()
        self._check(
            self._library.heddle_workspace_bytes(
                self._handle, ctypes.byref(problem), ctypes.byref(arguments), ctypes.byref(size)
            )
        )
        return size.value

    def launch(self, problem, arguments, stream=None):
        self._check(
            self._library.heddle_launch(
                self._handle, ctypes.byref(problem), ctypes.byref(arguments), stream
            )
        )

    def quantise_workspace_bytes(self, problem, quantiser):
        size = c_size_t()
        self._check(
            self._library.heddle_quantise_workspace_bytes(
                self._handle, ctypes.byref(problem), ctypes.byref(quantiser), ctypes.byref(size)
            )
        )
        return size.value

    def quantise(self, problem, quantiser, arguments, stream=None):
        """Writes the inputs and scales that `arguments` point to."""
        self._check(
            self._library.heddle_quantise(
                self._handle, ctypes.byref(problem), ctypes.byref(quantiser),
                ctypes.byref(arguments), stream,
            )
        )

    def explain_choice(self, problem):
        """{"match": …, "config": …}, a key per line of heddle's answer."""
        needed = c_size_t()
        self._explain(problem, None, 0, needed)
        buffer = ctypes.create_string_buffer(needed.value)
        self._explain(problem, buffer, needed.value, needed)
        lines = buffer.value.decode().splitlines()
        return dict(line.split(": ", 1) for line in lines if ": " in line)

    def _explain(self, problem, buffer, capacity, needed):
        self._check(
            self._library.heddle_explain_choice(
                self._handle, ctypes.byref(problem), buffer, capacity, ctypes.byref(needed)
            )
        )

    def counters(self):
        counters = Counters()
        self._check(self._library.heddle_get_counters(self._handle, ctypes.byref(counters)))
        return counters
