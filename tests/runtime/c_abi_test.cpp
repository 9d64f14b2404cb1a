// heddle.h as a caller meets it: bad input, struct versions, errors, results.
#include <cmath>
#include <thread>

#include "tests/runtime/c_abi_serving.hpp"

namespace heddle {
namespace {

struct Refusal {
  const char* field;
  heddle_status status;
  void (*spoil)(heddle_problem&, heddle_arguments&);
};

const Refusal kRefusals[] = {
    {"head_dim", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.head_dim = 100; }},
    {"head_dim", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.head_dim = 0; }},
    {"head_dim", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.head_dim = 264; }},
    {"kv_heads", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.heads = 6;
       p.kv_heads = 4;
     }},
    {"batch", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.batch = -1; }},
    {"seqlen_q", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.seqlen_q = -1; }},
    {"seqlen_kv", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.seqlen_kv = -5; }},
    {"batch", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.batch = 1LL << 33; }},
    {"heads", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.heads = 1LL << 33; }},
    {"seqlen_q", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.seqlen_q = 1LL << 33; }},
    {"seqlen_kv", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.seqlen_kv = 1LL << 33; }},
    {"num_splits", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.num_splits = -1; }},
    {"scale", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.scale = NAN; }},
    {"dtype", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.dtype = 77; }},
    {"mask", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.mask = 77; }},
    {"direction", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.direction = 77; }},
    {"query_strides.row", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) { p.query_strides[2] = -64; }},
    {"output_strides.head", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) { p.output_strides[0] = 1; }},
    {"query", HEDDLE_INVALID_ARGUMENT, [](auto&, auto& a) { a.query = nullptr; }},
    {"key", HEDDLE_INVALID_ARGUMENT, [](auto&, auto& a) { a.key = nullptr; }},
    {"value", HEDDLE_INVALID_ARGUMENT, [](auto&, auto& a) { a.value = nullptr; }},
    {"output", HEDDLE_INVALID_ARGUMENT, [](auto&, auto& a) { a.output = nullptr; }},
    {"value", HEDDLE_INVALID_ARGUMENT, [](auto&, auto& a) { a.value = &kRefusals; }},
    {"query", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.query = static_cast<const char*>(a.query) + 1; }},
    {"log_sum_exp", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.log_sum_exp = reinterpret_cast<float*>(2); }},
    // What belongs to e4m3 inputs.
    {"scales", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.scales = HEDDLE_SCALES_BLOCK; }},
    {"value_layout", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) { p.value_layout = HEDDLE_VALUE_TRANSPOSED; }},
    {"output_dtype", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.output_dtype = HEDDLE_FP16; }},
    {"query_descale", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.query_descale = static_cast<const float*>(a.query); }},
    {"key_descale", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.key_descale = static_cast<const float*>(a.query); }},
    {"value_descale", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.value_descale = static_cast<const float*>(a.query); }},
    {"value_mean", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.value_mean = static_cast<const float*>(a.query); }},
    {"log_sum_exp_shift", HEDDLE_INVALID_ARGUMENT,
     [](auto&, auto& a) { a.log_sum_exp_shift = static_cast<const float*>(a.query); }},
    {"scales", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.dtype = HEDDLE_E4M3;
       p.scales = 9;
     }},
    {"value_layout", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.dtype = HEDDLE_E4M3;
       p.value_layout = 2;
     }},
    {"output_dtype", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.dtype = HEDDLE_E4M3;
       p.output_dtype = HEDDLE_E4M3;
     }},
    {"output_dtype", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.dtype = HEDDLE_E4M3;
       p.output_dtype = 77;
     }},
    {"head_dim", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.dtype = HEDDLE_E4M3;
       p.head_dim = 80;
     }},
    {"query", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto& a) {
       p.dtype = HEDDLE_E4M3;
       a.query = static_cast<const char*>(a.query) + 1;
     }},
    {"value_mean", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto& a) {
       p.dtype = HEDDLE_E4M3;
       a.value_mean = reinterpret_cast<const float*>(static_cast<const char*>(a.query) + 2);
     }},
    {"key_descale", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto& a) {
       p.dtype = HEDDLE_E4M3;
       p.value_layout = HEDDLE_VALUE_TRANSPOSED;
       a.key_descale = reinterpret_cast<const float*>(&kRefusals);
     }},
    {"key_strides.row", HEDDLE_INVALID_ARGUMENT,
     [](auto& p, auto&) {
       p.dtype = HEDDLE_E4M3;
       p.key_strides[0] = p.key_strides[1] = 2 * 100 * 65;
       p.key_strides[2] = 65;
     }},
    {"reserved", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.reserved = 1; }},
    // Valid, but not in this version.
    {"head_dim_v", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.head_dim_v = 128; }},
    {"softcap", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.softcap = 50; }},
    {"direction", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.direction = HEDDLE_BACKWARD; }},
    {"window_left", HEDDLE_UNSUPPORTED,
     [](auto& p, auto&) {
       p.features = HEDDLE_WINDOW;
       p.window_left = 128;
     }},
    {"window_left", HEDDLE_INVALID_ARGUMENT, [](auto& p, auto&) { p.window_left = 128; }},
    {"bias", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = HEDDLE_BIAS; }},
    {"alibi", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = HEDDLE_ALIBI; }},
    {"sinks", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = HEDDLE_SINKS; }},
    {"lengths", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = HEDDLE_CU_SEQLENS; }},
    {"lengths", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = HEDDLE_SEQUSED; }},
    {"paged_kv", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = HEDDLE_PAGED_KV; }},
    {"batch_invariant", HEDDLE_UNSUPPORTED,
     [](auto& p, auto&) { p.features = HEDDLE_BATCH_INVARIANT; }},
    {"features", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.features = 1u << 31; }},
    {"score_snippet", HEDDLE_UNSUPPORTED,
     [](auto& p, auto&) { p.score_snippet = "return logit;"; }},
    {"mask_snippet", HEDDLE_UNSUPPORTED, [](auto& p, auto&) { p.mask_snippet = "return true;"; }},
    {"bias", HEDDLE_UNSUPPORTED, [](auto&, auto& a) { a.bias = a.query; }},
    {"page_table", HEDDLE_UNSUPPORTED,
     [](auto&, auto& a) { a.page_table = static_cast<const int32_t*>(a.query); }},
    {"seqused_kv", HEDDLE_UNSUPPORTED,
     [](auto&, auto& a) { a.seqused_kv = static_cast<const int32_t*>(a.query); }},
};

TEST_CASE("bad and unsupported requests are refused before any launch, naming the field") {
  Serving serving;
  const ContextHandle context = create_context();
  for (const Refusal& refusal : kRefusals) {
    heddle_problem problem = c_problem();
    heddle_arguments arguments = c_arguments(serving);
    refusal.spoil(problem, arguments);
    const heddle_status status = heddle_launch(context.get(), &problem, &arguments, nullptr);
    CAPTURE(refusal.field, heddle_last_error(context.get()));
    CHECK(heddle_status_name(status) == std::string(heddle_status_name(refusal.status)));
    CHECK(heddle_last_error_field(context.get()) == std::string(refusal.field));
    CHECK_THAT(heddle_last_error(context.get()), Catch::Contains(refusal.field));
  }
  CHECK(serving.cuda.launch_count() == 0);
  // Nothing of it lingers.
  const heddle_problem problem = c_problem();
  const heddle_arguments arguments = c_arguments(serving);
  CHECK(heddle_launch(context.get(), &problem, &arguments, nullptr) == HEDDLE_OK);
  CHECK(serving.cuda.launch_count() > 0);
}

TEST_CASE("e4m3 inputs reach the kernel with all that belongs to them") {
  Serving serving;
  const ContextHandle context = create_context();
  heddle_problem problem = c_problem();
  problem.dtype = HEDDLE_E4M3;
  problem.output_dtype = HEDDLE_FP16;
  problem.scales = HEDDLE_SCALES_TOKEN;
  problem.value_layout = HEDDLE_VALUE_TRANSPOSED;
  heddle_arguments arguments = c_arguments(serving);
  const auto numbers = [&] { return static_cast<const float*>(serving.allocate()); };
  arguments.query_descale = numbers();
  arguments.key_descale = numbers();
  arguments.value_descale = numbers();
  arguments.value_mean = numbers();
  arguments.log_sum_exp_shift = numbers();
  const auto launched = [&] {
    const heddle_status status = heddle_launch(context.get(), &problem, &arguments, nullptr);
    INFO(heddle_last_error(context.get()));
    REQUIRE(status == HEDDLE_OK);
    return attention_of(serving.last_launch());
  };
  const AttentionParameters parameters = launched();
  CHECK(parameters.query_descale == arguments.query_descale);
  CHECK(parameters.key_descale == arguments.key_descale);
  CHECK(parameters.value_descale == arguments.value_descale);
  CHECK(parameters.value_mean == arguments.value_mean);
  CHECK(parameters.log_sum_exp_shift == arguments.log_sum_exp_shift);
  CHECK(parameters.value.row_stride == 112);  // 100 keys in groups of 16
  CHECK(parameters.key.row_stride == 64);

  // Another kind of scales, or type of O, is another kernel.
  const int64_t compiles = counters_of(context.get()).compiles;
  problem.scales = HEDDLE_SCALES_BLOCK;
  launched();
  problem.output_dtype = HEDDLE_BF16;
  launched();
  CHECK(counters_of(context.get()).compiles == compiles + 2);

  arguments.value_mean = nullptr;  // nothing to add
  CHECK(launched().value_mean == nullptr);
  CHECK(counters_of(context.get()).compiles == compiles + 2);
}

TEST_CASE("null handles and structs are errors, not crashes") {
  Serving serving;
  const ContextHandle context = create_context();
  const heddle_problem problem = c_problem();
  const heddle_arguments arguments = c_arguments(serving);
  size_t bytes = 0;
  CHECK(heddle_launch(nullptr, &problem, &arguments, nullptr) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_last_error_field(nullptr) == std::string("context"));
  CHECK(heddle_launch(context.get(), nullptr, &arguments, nullptr) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_last_error_field(context.get()) == std::string("problem"));
  CHECK(heddle_launch(context.get(), &problem, nullptr, nullptr) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_prepare(context.get(), nullptr, 1, nullptr) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_prepare(context.get(), nullptr, 0, nullptr) == HEDDLE_OK);
  CHECK(heddle_workspace_bytes(context.get(), &problem, nullptr, nullptr) ==
        HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_workspace_bytes(nullptr, &problem, nullptr, &bytes) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_explain_choice(context.get(), &problem, nullptr, 10, nullptr) ==
        HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_get_counters(context.get(), nullptr) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_context_create(nullptr, nullptr) == HEDDLE_INVALID_ARGUMENT);
  heddle_context_destroy(nullptr);
}

TEST_CASE("structs of other versions") {
  Serving serving;
  const ContextHandle context = create_context();
  const heddle_arguments arguments = c_arguments(serving);
  SECTION("an older one, that ends after scale") {
    heddle_problem problem = c_problem();
    problem.struct_size = offsetof(heddle_problem, query_strides);
    problem.query_strides[2] = -7;  // beyond its end: not the caller's
    problem.features = ~0u;
    CHECK(heddle_launch(context.get(), &problem, &arguments, nullptr) == HEDDLE_OK);
    CHECK(attention_of(serving.last_launch()).query.row_stride == 64);
  }
  SECTION("one from before e4m3 inputs") {
    heddle_problem problem = c_problem();
    problem.struct_size = offsetof(heddle_problem, output_dtype);
    problem.output_dtype = problem.scales = problem.value_layout = problem.reserved = 77;
    heddle_arguments older = arguments;
    older.struct_size = offsetof(heddle_arguments, value_mean);
    older.value_mean = older.log_sum_exp_shift = reinterpret_cast<const float*>(2);
    CHECK(heddle_launch(context.get(), &problem, &older, nullptr) == HEDDLE_OK);
  }
  SECTION("a newer one that asks for nothing new") {
    struct {
      heddle_problem problem = c_problem();
      int64_t new_field = 0;
    } newer;
    newer.problem.struct_size = sizeof newer;
    CHECK(heddle_launch(context.get(), &newer.problem, &arguments, nullptr) == HEDDLE_OK);
    newer.new_field = 1;
    CHECK(heddle_launch(context.get(), &newer.problem, &arguments, nullptr) == HEDDLE_UNSUPPORTED);
    CHECK(heddle_last_error_field(context.get()) == std::string("struct_size"));
  }
  SECTION("a forgotten struct_size") {
    heddle_problem problem = c_problem();
    problem.struct_size = 0;
    CHECK(heddle_launch(context.get(), &problem, &arguments, nullptr) == HEDDLE_INVALID_ARGUMENT);
    CHECK_THAT(heddle_last_error(context.get()), Catch::Contains("sizeof"));
  }
  SECTION("a shorter result is not written past its end") {
    heddle_counters counters{};
    counters.struct_size = offsetof(heddle_counters, hot_hits);
    counters.hot_hits = -1;
    CHECK(heddle_get_counters(context.get(), &counters) == HEDDLE_OK);
    CHECK(counters.hot_hits == -1);
    CHECK(counters.struct_size == offsetof(heddle_counters, hot_hits));
  }
}

TEST_CASE("the last error belongs to a thread and a context") {
  Serving serving;
  const ContextHandle first = create_context();
  const ContextHandle second = create_context();
  heddle_problem problem = c_problem();
  problem.head_dim = 100;
  const heddle_arguments arguments = c_arguments(serving);
  REQUIRE(heddle_launch(first.get(), &problem, &arguments, nullptr) == HEDDLE_INVALID_ARGUMENT);
  CHECK_THAT(heddle_last_error(first.get()), Catch::Contains("100"));
  CHECK(heddle_last_error(second.get()) == std::string());
  std::thread([&] { CHECK(heddle_last_error(first.get()) == std::string()); }).join();
}

TEST_CASE("prepare reports on each problem and returns the first failure") {
  Serving serving;
  const ContextHandle context = create_context();
  heddle_problem problems[3] = {c_problem(), c_problem(), c_problem()};
  problems[1].head_dim = 100;
  problems[2].kv_heads = 3;
  heddle_prepare_result results[3]{};
  for (heddle_prepare_result& result : results) result.struct_size = sizeof result;
  CHECK(heddle_prepare(context.get(), problems, 3, results) == HEDDLE_INVALID_ARGUMENT);
  CHECK(heddle_last_error_field(context.get()) == std::string("head_dim"));
  CHECK(results[0].status == HEDDLE_OK);
  CHECK(results[0].from_cache == 0);
  CHECK(results[0].milliseconds > 0);
  CHECK(results[1].status == HEDDLE_INVALID_ARGUMENT);
  CHECK(results[2].status == HEDDLE_INVALID_ARGUMENT);
  const int64_t compiles = counters_of(context.get()).compiles;
  CHECK(compiles > 0);
  CHECK(heddle_prepare(context.get(), problems, 1, results) == HEDDLE_OK);
  CHECK(results[0].from_cache == 1);
  CHECK(counters_of(context.get()).compiles == compiles);
}

TEST_CASE("explain_choice cuts at the buffer's end and says what it needed") {
  Serving serving;
  const ContextHandle context = create_context();
  const heddle_problem problem = c_problem();
  size_t needed = 0;
  REQUIRE(heddle_explain_choice(context.get(), &problem, nullptr, 0, &needed) == HEDDLE_OK);
  std::string text(needed, 'x');
  REQUIRE(heddle_explain_choice(context.get(), &problem, text.data(), needed, nullptr) ==
          HEDDLE_OK);
  CHECK(text.back() == '\0');
  CHECK_THAT(text, Catch::Contains("config: family="));
  char small[8];
  std::memset(small, 'x', sizeof small);
  REQUIRE(heddle_explain_choice(context.get(), &problem, small, 6, nullptr) == HEDDLE_OK);
  CHECK(std::string(small) == text.substr(0, 5));
  CHECK(small[6] == 'x');
}

TEST_CASE("what is missing on the machine is told by its own status") {
  Serving serving;
  heddle_context* context = nullptr;
  heddle_options options = default_options();
  SECTION("driver") {
    options.driver_path = "/nonexistent/libcuda.so.1";
    CHECK(heddle_context_create(&options, &context) == HEDDLE_DRIVER_MISSING);
    CHECK(context == nullptr);
    CHECK_THAT(heddle_last_error(nullptr), Catch::Contains("/nonexistent/libcuda.so.1"));
  }
  SECTION("NVRTC: only when a kernel must be compiled") {
    options.nvrtc_path = "/nonexistent/libnvrtc.so";
    const ContextHandle created = create_context(options);
    const heddle_problem problem = c_problem();
    CHECK(heddle_prepare(created.get(), &problem, 1, nullptr) == HEDDLE_NVRTC_MISSING);
    CHECK_THAT(heddle_last_error(created.get()), Catch::Contains("/nonexistent/libnvrtc.so"));
  }
  SECTION("half an allocator, unknown flags") {
    options.allocate = [](void*, size_t, void*, void**) { return 0; };
    CHECK(heddle_context_create(&options, &context) == HEDDLE_INVALID_ARGUMENT);
    CHECK(heddle_last_error_field(nullptr) == std::string("release"));
    options = default_options();
    options.flags = 1u << 20;
    CHECK(heddle_context_create(&options, &context) == HEDDLE_UNSUPPORTED);
  }
}

struct Missed {
  int count = 0;
  int64_t heads = 0;
  heddle_context* context = nullptr;
};

TEST_CASE("the miss callback gets the problem and the context") {
  Serving serving;
  Missed missed;
  heddle_options options = default_options();
  options.miss = [](void* user, heddle_context* context, const heddle_problem* problem) {
    *static_cast<Missed*>(user) = {static_cast<Missed*>(user)->count + 1, problem->heads, context};
    return 1;
  };
  options.miss_user = &missed;
  const ContextHandle context = create_context(options);
  const heddle_problem problem = c_problem();
  CHECK(heddle_prepare(context.get(), &problem, 1, nullptr) == HEDDLE_OK);
  CHECK(missed.count == 1);
  CHECK(missed.heads == 8);
  CHECK(missed.context == context.get());
}

TEST_CASE("the miss callback gets e4m3 problems as they were asked") {
  Serving serving;
  heddle_problem missed{};
  heddle_options options = default_options();
  options.miss = [](void* user, heddle_context*, const heddle_problem* problem) {
    *static_cast<heddle_problem*>(user) = *problem;
    return 1;
  };
  options.miss_user = &missed;
  const ContextHandle context = create_context(options);
  heddle_problem problem = c_problem();
  problem.dtype = HEDDLE_E4M3;
  problem.output_dtype = HEDDLE_FP16;
  problem.value_layout = HEDDLE_VALUE_TRANSPOSED;
  for (const int32_t scales :
       {HEDDLE_SCALES_HEAD, HEDDLE_SCALES_TENSOR, HEDDLE_SCALES_BLOCK, HEDDLE_SCALES_TOKEN}) {
    problem.scales = scales;
    CHECK(heddle_prepare(context.get(), &problem, 1, nullptr) == HEDDLE_OK);
    CHECK(missed.dtype == HEDDLE_E4M3);
    CHECK(missed.output_dtype == HEDDLE_FP16);
    CHECK(missed.scales == scales);
    CHECK(missed.value_layout == HEDDLE_VALUE_TRANSPOSED);
  }
}

TEST_CASE("an exception from a callback stays inside") {
  Serving serving;
  heddle_options options = default_options();
  options.miss = [](void*, heddle_context*, const heddle_problem*) -> int { throw 42; };
  const ContextHandle context = create_context(options);
  const heddle_problem problem = c_problem();
  CHECK(heddle_prepare(context.get(), &problem, 1, nullptr) == HEDDLE_INTERNAL);
}

TEST_CASE("every status has a name and the version is the project's") {
  for (int status = HEDDLE_OK; status <= HEDDLE_INTERNAL; ++status) {
    CHECK_THAT(heddle_status_name(status), Catch::StartsWith("HEDDLE_"));
  }
  CHECK_THAT(heddle_status_name(99), Catch::Contains("unknown"));
  CHECK_THAT(heddle_status_name(-1), Catch::Contains("unknown"));
  const std::string version = std::to_string(HEDDLE_VERSION / 10000) + "." +
                              std::to_string(HEDDLE_VERSION / 100 % 100) + "." +
                              std::to_string(HEDDLE_VERSION % 100);
  CHECK(version == HEDDLE_PROJECT_VERSION);
  CHECK(heddle_version() == HEDDLE_VERSION);
}

}  // namespace
}  // namespace heddle
