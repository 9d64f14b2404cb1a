#include "tuner/verify_suite.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "generator/candidates.hpp"
#include "generator/knobs.hpp"
#include "runtime/testing/cases.hpp"
#include "tuner/config_kernels.hpp"
#include "tuner/gate.hpp"

namespace heddle {
namespace {

/// A config and its loaded kernels for one variant.
struct Kernel {
  KernelConfig config;
  std::unique_ptr<LoadedConfig> loaded;
};

struct LengthPair {
  int query;
  int key;
};

/// Every length against itself, and against one other of the list (a different one each).
std::vector<LengthPair> length_pairs(const std::vector<int>& lengths) {
  std::vector<LengthPair> pairs;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    pairs.push_back({lengths[i], lengths[i]});
    pairs.push_back({lengths[i], lengths[(i + 4) % lengths.size()]});
  }
  return pairs;
}

InputKind kind_of(int index) {
  constexpr InputKind kKinds[] = {InputKind::kNormal, InputKind::kLargeLogits, InputKind::kOneHot,
                                  InputKind::kRising, InputKind::kOneHeavy};
  return kKinds[static_cast<std::size_t>(index) % std::size(kKinds)];
}

class Suite {
 public:
  Suite(const Device& device, Compiler& compiler, const SuiteOptions& options,
        const std::function<void(int, int)>& progress)
      : device_(device), compiler_(compiler), options_(options), progress_(progress) {
    report_.seed = options.seed ? options.seed : std::random_device{}();
    random_.seed(static_cast<std::mt19937::result_type>(report_.seed));
  }

  SuiteReport run() {
    std::vector<Variant> variants = matrix_variants();
    std::vector<CaseInput> cases;
    if (options_.named_cases) {
      for (const DataType dtype : options_.dtypes) {
        for (CaseInput& entry : all_cases(dtype)) cases.push_back(std::move(entry));
      }
    }
    for (CaseInput& entry : cases) {
      Variant& variant = entry.problem.variant;
      variant.alignment = std::min(variant.alignment, stride_alignment(entry.problem));
      variants.push_back(variant);
    }
    compile_ahead(variants);
    for (const CaseInput& entry : cases) {
      check_all(entry.problem, entry.tensors, load_kernels(entry.problem.variant), entry.name);
    }
    for (const Variant& variant : matrix_variants()) run_variant(variant);
    return std::move(report_);
  }

 private:
  /// One config of each kind, drawn at random: the suite covers the search space over time.
  std::vector<KernelConfig> choose_configs(const Variant& variant) {
    std::vector<KernelConfig> configs;
    for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
      const auto& wanted = options_.families;
      if (!wanted.empty() && std::count(wanted.begin(), wanted.end(), family) == 0) continue;
      for (const bool split : {false, true}) {
        if (split && !knob_applies("split_kv", family, variant)) continue;
        const auto config = choose_config(variant, family, split);
        if (config) configs.push_back(*config);
      }
    }
    return configs;
  }

  std::optional<KernelConfig> choose_config(const Variant& variant, Family family, bool split) {
    auto candidates = enumerate_candidates(variant, device_.limits(), family);
    std::erase_if(candidates, [&](const KernelConfig& entry) { return entry.split_kv != split; });
    // Not every device and alignment has an fa3; and 8-bit inputs have no other family.
    if (candidates.empty() && (family == Family::kFa3 || variant.dtype == DataType::kE4m3)) {
      return std::nullopt;
    }
    if (candidates.empty()) {
      throw Error(ErrorCode::kNoLegalConfig, "family",
                  fmt::format("no legal {} config for {}", enum_name(family), full_text(variant)));
    }
    return candidates[random_() % candidates.size()];
  }

  const std::vector<KernelConfig>& configs_of(const Variant& variant) {
    auto& configs = configs_[canonical_text(variant)];
    if (configs.empty()) configs = choose_configs(variant);
    return configs;
  }

  std::vector<Kernel> load_kernels(const Variant& variant) {
    std::vector<Kernel> kernels;
    for (const KernelConfig& config : configs_of(variant)) {
      const auto compiled = compile_config(compiler_, variant, config, device_.limits());
      kernels.push_back({config, load_config(device_, variant, config, compiled)});
    }
    return kernels;
  }

  /// Every variant's kernels and references, on all cores; loading then finds them in memory.
  void compile_ahead(const std::vector<Variant>& variants) {
    std::vector<std::pair<Variant, KernelConfig>> work;
    for (const Variant& variant : variants) {
      const bool known = configs_.contains(canonical_text(variant));
      if (known) continue;
      for (const KernelConfig& config : configs_of(variant)) work.emplace_back(variant, config);
      for (const KernelConfig& config : reference_configs()) work.emplace_back(variant, config);
    }
    std::atomic<std::size_t> next{0};
    const auto compile = [&] {
      for (std::size_t i = next++; i < work.size(); i = next++) {
        try {
          compile_config(compiler_, work[i].first, work[i].second, device_.limits());
        } catch (const Error&) {
          // Loading meets the same error again and reports it.
        }
      }
    };
    std::vector<std::jthread> threads(std::max(1u, std::thread::hardware_concurrency()));
    for (auto& thread : threads) thread = std::jthread(compile);
  }

  std::vector<Variant> matrix_variants() const {
    std::vector<Variant> variants;
    for (const DataType dtype : options_.dtypes) {
      for (const int head_dim : options_.head_dims) {
        for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
          const Variant variant{.dtype = dtype, .head_dim = head_dim, .mask = mask};
          if (dtype == DataType::kE4m3) {
            add_scaled_variants(variant, variants);
          } else {
            variants.push_back(variant);
          }
        }
      }
    }
    return variants;
  }

  /// 8-bit inputs: both layouts of V, each with two kinds of scales, and both types of O.
  static void add_scaled_variants(Variant variant, std::vector<Variant>& variants) {
    if (reject_variant(variant)) return;  // a head dim that is no multiple of 32
    const bool is_causal = variant.mask == MaskKind::kCausal;
    for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
      const bool is_odd = is_causal != (layout == ValueLayout::kRows);
      variant.value_layout = layout;
      variant.scales = is_odd ? ScaleKind::kBlock : ScaleKind::kHead;
      variant.output_dtype = DataType::kBf16;
      variants.push_back(variant);
      variant.scales = is_odd ? ScaleKind::kTensor : ScaleKind::kToken;
      variant.output_dtype = DataType::kFp16;
      variants.push_back(variant);
    }
  }

  void run_variant(const Variant& variant) {
    const auto kernels = load_kernels(variant);
    int index = 0;
    for (const LengthPair& lengths : length_pairs(options_.lengths)) {
      for (const int group : options_.groups) {
        Problem problem{variant, {}};
        problem.sizes.batch = 2;
        problem.sizes.kv_heads = 2;
        problem.sizes.heads = 2 * group;
        problem.sizes.seqlen_q = lengths.query;
        problem.sizes.seqlen_kv = lengths.key;
        const auto tensors = make_inputs(problem, kind_of(index), report_.seed + index);
        check_all(problem, tensors, kernels, std::string(enum_name(kind_of(index))));
        ++index;
      }
    }
  }

  void check_all(const Problem& problem, const HostTensors& tensors,
                 const std::vector<Kernel>& kernels, const std::string& label) {
    if (lost_) return;
    DeviceReference expected;
    try {
      expected = compute_reference(device_, compiler_, problem, tensors);
    } catch (const Error& error) {
      return fail(label, problem, reference_configs().front(), error);
    }
    for (const Kernel& kernel : kernels) {
      Problem asked = problem;
      if (kernel.config.split_kv) asked.sizes.num_splits = options_.splits;
      try {
        check(label, {asked, tensors, expected}, kernel);
      } catch (const Error& error) {
        return fail(label, asked, kernel.config, error);
      }
    }
    if (progress_) progress_(report_.checks, 0);
  }

  void check(const std::string& label, const VerifyCase& verify_case, const Kernel& kernel) {
    ++report_.checks;
    const Comparison result = verify_config(device_, verify_case, kernel.config, *kernel.loaded);
    if (result.record.passed) return;
    report_.failures.push_back(
        {describe(label, verify_case.problem, kernel.config), result.explanation});
  }

  /// A failed launch loses the context: nothing after it can be judged.
  void fail(const std::string& label, const Problem& problem, const KernelConfig& config,
            const Error& error) {
    report_.failures.push_back({describe(label, problem, config), error.what()});
    lost_ = true;
  }

  static std::string describe(const std::string& label, const Problem& problem,
                              const KernelConfig& config) {
    return fmt::format("{} [{}; {}] {}", label, canonical_text(problem.variant),
                       canonical_text(problem.sizes), canonical_text(config));
  }

  const Device& device_;
  Compiler& compiler_;
  const SuiteOptions& options_;
  const std::function<void(int, int)>& progress_;
  std::mt19937 random_;
  std::map<std::string, std::vector<KernelConfig>> configs_;  ///< by the variant's text
  bool lost_ = false;
  SuiteReport report_;
};

}  // namespace

SuiteReport run_verify_suite(const Device& device, Compiler& compiler, const SuiteOptions& options,
                             const std::function<void(int, int)>& progress) {
  return Suite(device, compiler, options, progress).run();
}

}  // namespace heddle
