// heddle_quantise as a caller meets it: what is launched with what, and what is refused.
#include "templates/quantise_parameters.cuh"
#include "tests/runtime/c_abi_serving.hpp"

namespace heddle {
namespace {

struct Launched {
  std::string kernel;
  QuantiseParameters parameters;
  bool operator==(const std::string& name) const { return kernel == name; }
};

void record(const FakeLaunch* launch, void* user) {
  Launched entry{launch->kernel, {}};
  if (launch->parameter_bytes == sizeof entry.parameters) {
    std::memcpy(static_cast<void*>(&entry.parameters), launch->parameters, sizeof entry.parameters);
  }
  static_cast<std::vector<Launched>*>(user)->push_back(entry);
}

/// A caller's memory, whatever is asked for.
class Quantising {
 public:
  Quantising() {
    problem.dtype = HEDDLE_E4M3;
    problem.scales = HEDDLE_SCALES_BLOCK;
    problem.value_layout = HEDDLE_VALUE_TRANSPOSED;
    problem.seqlen_kv = 150;
    quantiser.struct_size = sizeof quantiser;
    quantiser.steps = HEDDLE_ROTATE | HEDDLE_KEY_MEAN | HEDDLE_VALUE_MEAN;
    quantiser.seed = 5;
    quantiser.query = serving.allocate();
    quantiser.key = serving.allocate();
    quantiser.value = serving.allocate();
    for (const float** numbers :
         {&arguments.query_descale, &arguments.key_descale, &arguments.value_descale,
          &arguments.value_mean, &arguments.log_sum_exp_shift}) {
      *numbers = static_cast<const float*>(serving.allocate());
    }
    arguments.workspace = serving.allocate();
    arguments.workspace_bytes = 1 << 20;
    serving.cuda.on_launch(&record, &launches);
  }

  heddle_status quantise(void* stream = nullptr) {
    launches.clear();
    return heddle_quantise(context.get(), &problem, &quantiser, &arguments, stream);
  }
  void require_done() {
    const heddle_status status = quantise();
    INFO(heddle_last_error(context.get()));
    REQUIRE(status == HEDDLE_OK);
  }
  std::string names() const {
    std::string text;
    for (const Launched& launch : launches) {
      text += launch.kernel.substr(launch.kernel.rfind('_') + 1) + " ";
    }
    return text;
  }

  Serving serving;
  ContextHandle context = create_context();
  heddle_problem problem = c_problem();
  heddle_arguments arguments = c_arguments(serving);
  heddle_quantiser quantiser{};
  std::vector<Launched> launches;
};

TEST_CASE("quantising launches what the recipe needs, K before Q") {
  Quantising subject;
  subject.require_done();
  CHECK(subject.names() == "columns means elements elements columns means scales elements ");
  const QuantiseParameters& key = subject.launches[2].parameters;
  const QuantiseParameters& query = subject.launches[3].parameters;
  const QuantiseParameters& value = subject.launches[7].parameters;
  CHECK(key.input.data == subject.quantiser.key);
  CHECK(key.output.data == subject.arguments.key);
  CHECK(key.scales == subject.arguments.key_descale);
  CHECK(key.rows == 150);
  CHECK(key.tiles == 2);
  CHECK(key.signs[0] == rotation_signs(5, 0));
  CHECK(key.signs[1] == rotation_signs(5, 1));
  CHECK(query.key_means == key.means);
  CHECK(query.log_sum_exp_shift == subject.arguments.log_sum_exp_shift);
  CHECK(query.kv_heads == 2);
  CHECK(query.scale == 0.125f);  // 1 / sqrt(64)
  CHECK(value.means == subject.arguments.value_mean);
  CHECK(value.output.row_stride == 160);
  CHECK(value.positions == 160);

  const int64_t compiles = counters_of(subject.context.get()).compiles;
  subject.require_done();
  CHECK(counters_of(subject.context.get()).compiles == compiles);

  subject.quantiser.steps = 0;
  subject.problem.scales = HEDDLE_SCALES_TENSOR;
  subject.require_done();
  CHECK(subject.names() ==
        "magnitudes scales elements magnitudes scales elements magnitudes scales elements ");
  CHECK(subject.launches[1].parameters.magnitudes_per_scale == 2 * 2 * 2);
}

TEST_CASE("a tensor without an original stays as it is") {
  Quantising subject;
  subject.quantiser.steps = HEDDLE_VALUE_MEAN;
  subject.quantiser.query = subject.quantiser.key = nullptr;
  subject.arguments.query_descale = subject.arguments.key_descale = nullptr;
  subject.require_done();
  CHECK(subject.names() == "columns means scales elements ");
  CHECK(subject.launches[0].parameters.input.data == subject.quantiser.value);
  subject.problem.seqlen_kv = 0;
  subject.require_done();
  CHECK(subject.names() == "");
}

TEST_CASE("the quantiser says how much workspace it needs, and takes no less") {
  Quantising subject;
  size_t bytes = 0;
  REQUIRE(heddle_quantise_workspace_bytes(subject.context.get(), &subject.problem,
                                          &subject.quantiser, &bytes) == HEDDLE_OK);
  // K's means, and V's tiles: three statistics of 64 columns, and a magnitude for each head.
  const size_t heads = 2 * 2;
  CHECK(bytes == heads * 64 * 4 + heads * 2 * 3 * 64 * 4 + heads * 4);
  subject.arguments.workspace_bytes = bytes;
  subject.require_done();
  subject.arguments.workspace_bytes = bytes - 1;
  CHECK(subject.quantise() == HEDDLE_WORKSPACE_TOO_SMALL);
}

TEST_CASE("what the quantiser cannot do is refused by field, and launches nothing") {
  struct Refusal {
    const char* field;
    heddle_status status;
    void (*spoil)(Quantising&);
  };
  const Refusal refusals[] = {
      {"dtype", HEDDLE_INVALID_ARGUMENT,
       [](auto& q) {
         q.problem.dtype = HEDDLE_BF16;
         q.problem.scales = q.problem.value_layout = 0;
       }},
      {"dtype", HEDDLE_INVALID_ARGUMENT, [](auto& q) { q.quantiser.dtype = HEDDLE_E4M3; }},
      {"steps", HEDDLE_UNSUPPORTED, [](auto& q) { q.quantiser.steps = 1u << 20; }},
      {"reserved", HEDDLE_UNSUPPORTED, [](auto& q) { q.quantiser.reserved = 1; }},
      {"key", HEDDLE_INVALID_ARGUMENT, [](auto& q) { q.quantiser.key = nullptr; }},
      {"query", HEDDLE_INVALID_ARGUMENT, [](auto& q) { q.quantiser.query = nullptr; }},
      {"query_descale", HEDDLE_INVALID_ARGUMENT,
       [](auto& q) { q.arguments.query_descale = nullptr; }},
      {"value_mean", HEDDLE_INVALID_ARGUMENT, [](auto& q) { q.arguments.value_mean = nullptr; }},
      {"log_sum_exp_shift", HEDDLE_INVALID_ARGUMENT,
       [](auto& q) { q.arguments.log_sum_exp_shift = nullptr; }},
      {"value", HEDDLE_INVALID_ARGUMENT, [](auto& q) { q.arguments.value = nullptr; }},
      {"value", HEDDLE_INVALID_ARGUMENT,
       [](auto& q) { q.quantiser.value = static_cast<const char*>(q.quantiser.value) + 8; }},
      {"input_strides.row", HEDDLE_INVALID_ARGUMENT,
       [](auto& q) {
         q.quantiser.key_strides[0] = q.quantiser.key_strides[1] = 150 * 68;
         q.quantiser.key_strides[2] = 68;
       }},
      {"struct_size", HEDDLE_INVALID_ARGUMENT, [](auto& q) { q.quantiser.struct_size = 0; }},
  };
  for (const Refusal& refusal : refusals) {
    Quantising subject;
    refusal.spoil(subject);
    const heddle_status status = subject.quantise();
    CAPTURE(refusal.field, heddle_last_error(subject.context.get()));
    CHECK(status == refusal.status);
    CHECK(heddle_last_error_field(subject.context.get()) == std::string(refusal.field));
    CHECK(subject.launches.empty());
  }
}

TEST_CASE("a host pointer is refused by the first call") {
  Quantising subject;
  alignas(16) static char memory[16];
  subject.quantiser.key = memory;
  CHECK(subject.quantise() == HEDDLE_INVALID_ARGUMENT);
  CHECK_THAT(heddle_last_error(subject.context.get()), Catch::Contains("memory"));
}

}  // namespace
}  // namespace heddle
