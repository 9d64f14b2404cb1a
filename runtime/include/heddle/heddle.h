/* heddle's C interface: exact attention kernels, generated and chosen at run time.
 *
 * Three rules hold everywhere. Every struct begins with struct_size, set by the caller to
 * sizeof(the struct); a program built against an older heddle.h keeps working. Zero means default,
 * so a struct cleared to zero needs only the fields that matter. Nothing here throws, prints,
 * aborts or exits: each function returns a status, and heddle_last_error() says which field was
 * wrong, its value, and what to do.
 *
 * No CUDA header is needed: streams are CUstream or cudaStream_t passed as void*.
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stddef.h>
#include <stdint.h>

/* HEDDLE_STATIC comes with the target heddle::runtime_static. */
#if defined(__GNUC__) && !defined(HEDDLE_STATIC)
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; heddle_version() is the library's. 10000 * major + 100 * minor + patch. */
#define HEDDLE_VERSION 100

/* Values are stable: new ones are added at the end. */
typedef enum heddle_status {
  HEDDLE_OK = 0,
  HEDDLE_INVALID_ARGUMENT = 1, /* the caller's input is wrong */
  HEDDLE_UNSUPPORTED = 2,      /* a valid request that this version cannot honour */
  HEDDLE_NO_LEGAL_CONFIG = 3,  /* no kernel of heddle's fits this problem on this device */
  HEDDLE_CHECK_FAILED = 4,     /* a result differs from the reference */
  HEDDLE_COMPILE_FAILED = 5,   /* NVRTC refused a kernel */
  HEDDLE_DRIVER_MISSING = 6,   /* no CUDA driver, only its stub, or too old a one */
  HEDDLE_DEVICE_MISSING = 7,   /* a driver, but no device */
  HEDDLE_NVRTC_MISSING = 8,    /* no usable libnvrtc, and the kernel is not cached */
  HEDDLE_DRIVER_ERROR = 9,     /* a driver call failed */
  HEDDLE_OUT_OF_MEMORY = 10,   /* host or device memory, or the caller's allocator */
  HEDDLE_WORKSPACE_TOO_SMALL = 11,
  HEDDLE_CAPTURE_MISS = 12, /* a kernel is not resident while its stream is captured */
  HEDDLE_IO = 13,
  HEDDLE_INTERNAL = 14 /* a fault of heddle's own */
} heddle_status;

typedef enum heddle_dtype { HEDDLE_BF16 = 0, HEDDLE_FP16 = 1, HEDDLE_E4M3 = 2 } heddle_dtype;

/* Causal is aligned to the bottom-right corner: query i sees keys j <= i + seqlen_kv - seqlen_q. */
typedef enum heddle_mask { HEDDLE_FULL = 0, HEDDLE_CAUSAL = 1 } heddle_mask;

/* What shares one factor that e4m3 elements of query and key are multiplied by. */
typedef enum heddle_scales {
  HEDDLE_SCALES_HEAD = 0,   /* fp32 [batch, heads] */
  HEDDLE_SCALES_TENSOR = 1, /* fp32 [1] */
  HEDDLE_SCALES_BLOCK = 2,  /* fp32 [batch, heads, ceil(rows / 128)] */
  HEDDLE_SCALES_TOKEN = 3   /* fp32 [batch, heads, rows] */
} heddle_scales;

/* How e4m3 values lie in memory. */
typedef enum heddle_value_layout {
  HEDDLE_VALUE_ROWS = 0, /* [batch, kv_heads, seqlen_kv, head_dim], as keys do */
  /* [batch, kv_heads, head_dim, seqlen_kv rounded up to 16]: of each 16 keys in the order 0 1 8 9
   * 2 3 10 11 4 5 12 13 6 7 14 15, zeros past the last key. Strides are of these axes. */
  HEDDLE_VALUE_TRANSPOSED = 1
} heddle_value_layout;

typedef enum heddle_direction { HEDDLE_FORWARD = 0, HEDDLE_BACKWARD = 1 } heddle_direction;

/* Bits of heddle_problem.features. This version answers HEDDLE_UNSUPPORTED to all of them. */
typedef enum heddle_feature {
  HEDDLE_WINDOW = 1 << 0, /* window_left and window_right count; -1 there = unlimited */
  HEDDLE_BIAS = 1 << 1,
  HEDDLE_ALIBI = 1 << 2,
  HEDDLE_SINKS = 1 << 3,
  HEDDLE_CU_SEQLENS = 1 << 4,
  HEDDLE_SEQUSED = 1 << 5,
  HEDDLE_PAGED_KV = 1 << 6,
  HEDDLE_BATCH_INVARIANT = 1 << 7
} heddle_feature;

/* Bits of heddle_options.flags. */
typedef enum heddle_flag {
  HEDDLE_NO_DATABASE = 1 << 0, /* neither read nor write result and cubin files */
  HEDDLE_NO_JIT = 1 << 1       /* never compile: only kernels of the cubin cache */
} heddle_flag;

/* How well the chosen kernel's tuning record fits the question. */
typedef enum heddle_match {
  HEDDLE_MATCH_EXACT = 0,        /* measured on this device class at this size */
  HEDDLE_MATCH_NEAREST_SIZE = 1, /* measured on this device class at another size */
  HEDDLE_MATCH_OTHER_DEVICE = 2,
  HEDDLE_MATCH_PREDICTED = 3,
  HEDDLE_MATCH_DEFAULT = 4 /* nothing known: heddle's own default */
} heddle_match;

typedef struct heddle_context heddle_context;

typedef struct heddle_problem {
  size_t struct_size;
  int64_t batch;    /* 0 here, in heads or in seqlen_q: an empty problem, nothing is done */
  int64_t heads;    /* query heads */
  int64_t kv_heads; /* key/value heads, a divisor of heads; 0 = heads */
  int64_t seqlen_q;
  int64_t seqlen_kv;  /* 0: the output is written as zeros */
  int64_t head_dim;   /* a multiple of 8, of e4m3 of 32, up to 256 */
  int64_t head_dim_v; /* 0 = head_dim; others are not supported yet */
  int32_t dtype;      /* heddle_dtype of query, key, value and, unless it is e4m3, output */
  int32_t mask;       /* heddle_mask */
  double scale;       /* multiplies q.k; 0 = 1/sqrt(head_dim) */
  /* {batch, head, row} in elements; columns are contiguous. All zero: contiguous
   * [batch, heads, seqlen, head_dim]. */
  int64_t query_strides[3];
  int64_t key_strides[3];
  int64_t value_strides[3];
  int64_t output_strides[3];
  int64_t num_splits; /* parts that the keys are split into; 0 = chosen */

  /* Asked for by later versions; neutral at zero. */
  uint32_t features; /* heddle_feature bits */
  int32_t direction; /* heddle_direction */
  int64_t window_left;
  int64_t window_right;
  double softcap;            /* cap * tanh(logit / cap); 0 = none */
  const char* score_snippet; /* user code applied to each logit */
  const char* mask_snippet;  /* user code that says which keys are visible */

  /* Of e4m3 inputs; zero with others. */
  int32_t output_dtype; /* heddle_dtype of output: bf16 or fp16 */
  int32_t scales;       /* heddle_scales */
  int32_t value_layout; /* heddle_value_layout */
  int32_t reserved;     /* 0 */
} heddle_problem;

/* Device pointers of one call. */
typedef struct heddle_arguments {
  size_t struct_size;
  const void* query;
  const void* key;
  const void* value;
  void* output;
  float* log_sum_exp; /* fp32 [batch, heads, seqlen_q], natural logarithm; null = not wanted */
  void* workspace;    /* 256-byte aligned; null: none needed, or the allocator provides it */
  size_t workspace_bytes;
  /* Must be null in this version. */
  const int32_t* cu_seqlens_q;
  const int32_t* cu_seqlens_kv;
  const int32_t* seqused_kv;
  const int32_t* page_table;
  const void* bias;
  const float* alibi_slopes;
  const float* sinks;

  /* Of e4m3 inputs, else null: device memory, fp32, contiguous. Null = 1, or nothing to add. */
  const float* query_descale;     /* elements times these are the queries; shape: heddle_scales */
  const float* key_descale;       /* of kv_heads and seqlen_kv */
  const float* value_descale;     /* [batch, kv_heads]; [1] with HEDDLE_SCALES_TENSOR */
  const float* value_mean;        /* [batch, kv_heads, head_dim]: added to the output */
  const float* log_sum_exp_shift; /* [batch, heads, seqlen_q]: added to log_sum_exp */
} heddle_arguments;

/* Bits of heddle_quantiser.steps. None of them changes what attention gives, but for rounding. */
typedef enum heddle_quantiser_step {
  /* Q and K: random signs, then a Hadamard transform of their columns. Outliers are spread. */
  HEDDLE_ROTATE = 1 << 0,
  /* Each column's mean over a head's keys is taken off K; log_sum_exp_shift makes good for it. */
  HEDDLE_KEY_MEAN = 1 << 1,
  /* The same of V; value_mean makes good for it. */
  HEDDLE_VALUE_MEAN = 1 << 2
} heddle_quantiser_step;

/* How the inputs of an e4m3 problem are made of fp16 or bf16 tensors. */
typedef struct heddle_quantiser {
  size_t struct_size;
  int32_t dtype;     /* heddle_dtype of the tensors below: bf16 or fp16 */
  uint32_t steps;    /* heddle_quantiser_step bits */
  uint32_t seed;     /* of the signs; the same for queries and keys that are to meet */
  uint32_t reserved; /* 0 */
  /* [batch, heads, seqlen, head_dim], values by rows, rows 16-byte aligned; null: that tensor of
   * the problem is there already. HEDDLE_KEY_MEAN needs query and key in one call. */
  const void* query;
  const void* key;
  const void* value;
  /* {batch, head, row} in elements; all zero: contiguous. */
  int64_t query_strides[3];
  int64_t key_strides[3];
  int64_t value_strides[3];
} heddle_quantiser;

typedef struct heddle_options {
  size_t struct_size;
  const char* driver_path;  /* libcuda.so.1; null = $HEDDLE_CUDA_DRIVER, then the system's */
  const char* nvrtc_path;   /* libnvrtc or its folder; null = $HEDDLE_NVRTC, then the system's */
  const char* results_path; /* tuning results; null = $HEDDLE_DB, then the user's data folder */
  const char* cache_path;   /* compiled kernels; null = $HEDDLE_CACHE, then the user's cache */
  uint64_t flags;           /* heddle_flag bits */

  /* Workspace for calls that bring none: called in stream order, 256-byte aligned. allocate
   * returns 0 on success. Both or neither. */
  int (*allocate)(void* user, size_t bytes, void* stream, void** pointer);
  void (*release)(void* user, void* pointer, size_t bytes, void* stream);
  void* allocator_user;

  /* Told in one line what went on but not wrong enough to be a status. From any thread. */
  void (*log)(void* user, const char* message);
  void* log_user;

  /* Called when no measured kernel is stored for a problem, before one is chosen: it may tune and
   * store a result, which is then used. Never during a capture. Its own calls on the same context
   * for the same problem run the default. Non-zero = it could not, and the default is used. */
  int (*miss)(void* user, heddle_context* context, const heddle_problem* problem);
  void* miss_user;
} heddle_options;

typedef struct heddle_prepare_result {
  size_t struct_size;
  int32_t status;     /* heddle_status of this problem */
  int32_t match;      /* heddle_match */
  int32_t from_cache; /* 1: no kernel had to be compiled */
  int32_t reserved;
  double milliseconds; /* spent on this problem */
} heddle_prepare_result;

typedef struct heddle_counters {
  size_t struct_size;
  int64_t compiles;       /* NVRTC runs */
  int64_t database_reads; /* lookups in the results database */
  int64_t hot_hits;       /* launches served by a resident kernel */
  int64_t misses;         /* calls that had to choose, and perhaps compile, a kernel */
} heddle_counters;

HEDDLE_API int heddle_version(void);
/* "HEDDLE_INVALID_ARGUMENT"; never null. */
HEDDLE_API const char* heddle_status_name(int status);

/* Loads the CUDA driver; libnvrtc is looked for only when a kernel must be compiled. options may be
 * null. Contexts are independent; one serves any number of threads, streams and devices. */
HEDDLE_API heddle_status heddle_context_create(const heddle_options* options,
                                               heddle_context** context);
/* Null is allowed. Launches must have ended. Safe at exit, whatever became of the driver. */
HEDDLE_API void heddle_context_destroy(heddle_context* context);

/* Makes the kernels of these problems resident in the current CUDA context, compiling if need be.
 * All are tried; the first failure is returned. results: null, or one per problem. Addresses are
 * taken to be 16-byte aligned. */
HEDDLE_API heddle_status heddle_prepare(heddle_context* context, const heddle_problem* problems,
                                        size_t count, heddle_prepare_result* results);

/* Exactly what heddle_launch will need for these arguments in the current CUDA context. arguments:
 * null = addresses are 16-byte aligned. */
HEDDLE_API heddle_status heddle_workspace_bytes(heddle_context* context,
                                                const heddle_problem* problem,
                                                const heddle_arguments* arguments, size_t* bytes);

/* Enqueues attention on the stream (null: the default stream of the current context), in the
 * stream's own context; the caller's current context is left as it was. May be captured once the
 * kernel is resident; the graph keeps the lengths and pointers of its capture. */
HEDDLE_API heddle_status heddle_launch(heddle_context* context, const heddle_problem* problem,
                                       const heddle_arguments* arguments, void* stream);

/* Bytes of workspace that heddle_quantise needs. */
HEDDLE_API heddle_status heddle_quantise_workspace_bytes(heddle_context* context,
                                                         const heddle_problem* problem,
                                                         const heddle_quantiser* quantiser,
                                                         size_t* bytes);

/* Enqueues the making of a problem's e4m3 inputs on the stream: query, key, value, their scales
 * and, with the steps that need them, value_mean and log_sum_exp_shift of `arguments` are WRITTEN,
 * so that the same arguments can go to heddle_launch. Kernels are compiled by the first call for a
 * kind of problem and recipe, which no capture may be. */
HEDDLE_API heddle_status heddle_quantise(heddle_context* context, const heddle_problem* problem,
                                         const heddle_quantiser* quantiser,
                                         const heddle_arguments* arguments, void* stream);

/* The chosen kernel as text ("match: exact\nconfig: family=fa2, …"), cut at capacity. needed (may
 * be null) receives the full length with its final zero. */
HEDDLE_API heddle_status heddle_explain_choice(heddle_context* context,
                                               const heddle_problem* problem, char* buffer,
                                               size_t capacity, size_t* needed);

HEDDLE_API heddle_status heddle_get_counters(heddle_context* context, heddle_counters* counters);

/* Why this thread's last failing call on this context failed (null context: on any, or in
 * heddle_context_create). Valid until the thread's next failing call; "" where there was none. */
HEDDLE_API const char* heddle_last_error(const heddle_context* context);
/* The field to blame ("head_dim"), or "" where no single one is. */
HEDDLE_API const char* heddle_last_error_field(const heddle_context* context);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_HEDDLE_H */
