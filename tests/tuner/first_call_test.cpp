// C74: a call that sets off a tuning leaves its caller's memory as any other call does.
#include <algorithm>

#include "runtime/testing/compare.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/runtime/serving.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuner/tuner.hpp"

namespace heddle {
namespace {

constexpr std::size_t kGuardElements = 64;
constexpr std::uint16_t kGuard = 0x5a5a;

/// The caller's tensor inside a larger allocation of his own.
class Guarded {
 public:
  Guarded(const Serving& serving, const std::vector<std::uint16_t>& elements)
      : size_(elements.size()),
        base_(static_cast<std::uint16_t*>(
            serving.allocate((size_ + 2 * kGuardElements) * sizeof(std::uint16_t)))) {
    std::fill_n(base_, size_ + 2 * kGuardElements, kGuard);
    std::copy(elements.begin(), elements.end(), data());
  }
  std::uint16_t* data() const { return base_ + kGuardElements; }
  std::vector<std::uint16_t> elements() const { return {data(), data() + size_}; }
  bool intact() const {
    const auto is_guard = [](std::uint16_t element) { return element == kGuard; };
    return std::all_of(base_, data(), is_guard) &&
           std::all_of(data() + size_, data() + size_ + kGuardElements, is_guard);
  }

 private:
  std::size_t size_;
  std::uint16_t* base_;
};

Problem asked() {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 80, .seqlen_kv = 96};
  return problem;
}

/// What a program may do on a miss.
TuneReport tune_here(const std::string& results, const std::string& worker,
                     const Problem& problem) {
  Compiler::Options compiler_options;
  compiler_options.nvrtc_path = HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable";
  Compiler compiler(compiler_options);
  ResultsStore::Options store_options;
  store_options.path = results;
  ResultsStore store(store_options);
  const Device device(Driver::load(HEDDLE_FAKE_CUDA_PATH), 0);
  const TuneTarget target{compiler,        store,
                          device.limits(), device.device_class(),
                          &device,         {worker, HEDDLE_FAKE_CUDA_PATH, 0, compiler_options}};
  TuneOptions options;
  options.families = {Family::kFa2};
  options.limit = 4;
  options.samples = 5;
  options.fresh = true;
  options.bad = {BadKind::kNeverWrites};
  // In this process that one would end the search.
  if (!worker.empty()) options.bad.push_back(BadKind::kWritesPastEnd);
  return tune(target, {"asked", problem}, options);
}

TEST_CASE("C74 the call that tunes gets the winner's result, and its inputs stay as they were") {
  Serving serving;
  const TemporaryFolder folder;
  const std::string results = (folder.path() / "results.db").string();
  const std::string worker = GENERATE("", HEDDLE_WORKER);
  const Problem problem = asked();
  const HostTensors given = make_inputs(problem, InputKind::kNormal, 5);
  const Guarded query(serving, given.query), key(serving, given.key), value(serving, given.value);
  const Guarded output(serving, std::vector<std::uint16_t>(given.query.size(), 0xffff));
  std::vector<float> log_sum_exp(2 * 4 * 80, -1);

  auto options = serving.options();
  options.provider.results_path = results;
  TuneReport report;
  options.on_miss = [&](const Problem& missed) {
    if (!report.winner) report = tune_here(results, worker, missed);
    return true;
  };
  Context context(std::move(options));
  Context::Call call{.problem = problem};
  call.pointers = {.query = query.data(),
                   .key = key.data(),
                   .value = value.data(),
                   .output = output.data(),
                   .log_sum_exp = log_sum_exp.data()};
  // The fake's memory is the host's, but the LSE's has to be known to it.
  const Guarded lse(serving, std::vector<std::uint16_t>(2 * log_sum_exp.size()));
  call.pointers.log_sum_exp = reinterpret_cast<float*>(lse.data());
  context.launch(call);

  REQUIRE(report.winner);
  CHECK(report.measured >= 3);
  CHECK(serving.current() == serving.context);
  CHECK(query.elements() == given.query);
  CHECK(key.elements() == given.key);
  CHECK(value.elements() == given.value);
  for (const Guarded* tensor : {&query, &key, &value, &output, &lse}) CHECK(tensor->intact());
  std::memcpy(log_sum_exp.data(), lse.data(), log_sum_exp.size() * sizeof(float));
  const auto comparison =
      compare(problem, reference_attention(problem, given, ReferenceMode::kFloat64),
              reference_attention(problem, given, ReferenceMode::kBaseline), output.elements(),
              log_sum_exp);
  INFO(comparison.explanation);
  CHECK(comparison.record.passed);
  CHECK_THAT(context.explain(problem), Catch::Contains(full_text(report.winner->config)));
}

}  // namespace
}  // namespace heddle
