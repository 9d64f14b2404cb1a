// Sums checked instead of maxima (fa3, running_max=checked_sum): rows that rise slowly, fast, and
// so fast that probabilities overflow and a block is made up for, beside rows that do not.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "generator/emit.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/host/checked_sums.hpp"

namespace heddle {

TEST_CASE("checked sums obey the contract, however logits rise") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
      const Problem problem = checked_sum_problem(dtype, mask);
      for (const Named& input : named_logits()) {
        const auto verdict = verify_checked_sum(problem, tensors_of(problem, input.logit),
                                                checked_sum_config(RunningMax::kCheckedSum));
        INFO(enum_name(mask) << ' ' << enum_name(dtype) << ' ' << input.name << ": "
                             << verdict.explain());
        CHECK(verdict.passed());
      }
    }
  }
}

TEST_CASE("NaN and infinities reach the rows that see them, and no others") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    const Problem problem = checked_sum_problem(DataType::kBf16, mask);
    for (const float odd : {nan, infinity, -infinity}) {
      for (const int visited : {2, 40, 9 * kBlock, 12 * kBlock + 4, kKeys - 1}) {
        HostTensors tensors = tensors_of(problem, jumping(100, 2, true));
        const auto bits = element_from_float(problem.variant.dtype, odd);
        tensors.value[static_cast<std::size_t>((kKeys - 1 - visited) * kColumns + 7)] = bits;
        const auto verdict =
            verify_checked_sum(problem, tensors, checked_sum_config(RunningMax::kCheckedSum));
        INFO(enum_name(mask) << ", value " << odd << ", key " << visited << ": "
                             << verdict.explain());
        CHECK(verdict.passed());
      }
    }
    HostTensors tensors = tensors_of(problem, jumping(100, 2, true));
    tensors.query[5 * kColumns + 5] = element_from_float(problem.variant.dtype, nan);
    tensors.query[8 * kColumns + 8] = element_from_float(problem.variant.dtype, infinity);
    const auto verdict =
        verify_checked_sum(problem, tensors, checked_sum_config(RunningMax::kCheckedSum));
    INFO(enum_name(mask) << ": " << verdict.explain());
    CHECK(verdict.passed());
  }
}

TEST_CASE("blocks are made up for in every head dimension, team and schedule") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const int head_dim : {72, 96, 136, 256}) {
      Problem problem;
      problem.variant.head_dim = head_dim;
      problem.variant.mask = mask;
      problem.sizes = {.heads = 2, .kv_heads = 1, .seqlen_q = 150, .seqlen_kv = kKeys};
      HostTensors tensors = make_inputs(problem, InputKind::kNormal, 43);
      // Column 0 of every second query asks for keys of ever larger column 0.
      for (std::size_t row = 0; row < 300; ++row) {
        const double asks = row % 2 == 0 ? std::sqrt(head_dim) : 0.0;
        tensors.query[row * static_cast<std::size_t>(head_dim)] =
            element_from_float(problem.variant.dtype, static_cast<float>(asks));
      }
      for (std::size_t key = 0; key < kKeys; ++key) {
        const double height = key < kKeys / 3 ? 110.0 : 0.0;
        tensors.key[key * static_cast<std::size_t>(head_dim)] =
            element_from_float(problem.variant.dtype, static_cast<float>(height));
      }
      KernelConfig config = checked_sum_config(RunningMax::kCheckedSum);
      config.tile_m = 128, config.warps = 8;
      config.query_stages = 2, config.tma_store = true, config.ping_pong = true;
      config.scheduler = TileScheduler::kDynamic;
      config.skip_masked = mask == MaskKind::kCausal;
      const auto verdict = verify_checked_sum(problem, tensors, config);
      INFO(enum_name(mask) << ' ' << head_dim << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

namespace {

void replace(std::string& text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  text.replace(at, before.size(), after);
}

/// Every second run of 24 keys; two blocks hold parts of both kinds.
bool is_hidden(int key) {
  return key / 24 % 2 != 0;
}

HostConfig compile_hidden(const Problem& problem, bool by_score) {
  const KernelConfig config = checked_sum_config(RunningMax::kCheckedSum);
  KernelSource source =
      emit(problem.variant, config, KernelPart::kFa3Attention, find_architecture("sm_90a"));
  std::string& text = source.main.text;
  if (by_score) {
    replace(text, "kScoreHook = false", "kScoreHook = true");
    replace(text, "score(Logit logit, heddle::ScorePosition)",
            "score(Logit logit, heddle::ScorePosition where)");
    replace(text, "return logit;",
            "return where.key / 24 % 2 == 0 ? logit : Logit(-heddle::infinity());");
  } else {
    replace(text, "kMaskHook = false", "kMaskHook = true");
    replace(text, "visible(heddle::ScorePosition) { return true; }",
            "visible(heddle::ScorePosition where) { return where.key / 24 % 2 == 0; }");
  }
  return {config, {checked_sum_compiler().compile(source)}};
}

struct SeenRow {
  double output = 0;  ///< of one column
  double log_sum_exp = 0;
  double largest = -1e30;
};

/// Over the keys that are not hidden.
SeenRow seen_row(const HostTensors& tensors, int row, int column) {
  const auto entry = [&](const std::vector<std::uint16_t>& rows, int key, int at) {
    const auto index = static_cast<std::size_t>(key * kColumns + at);
    return static_cast<double>(element_to_float(DataType::kBf16, rows[index]));
  };
  SeenRow seen;
  for (int key = 0; key < kKeys; ++key) {
    if (is_hidden(key)) continue;
    seen.largest = std::max(seen.largest, entry(tensors.key, key, row % kColumns));
  }
  double sum = 0;
  for (int key = 0; key < kKeys; ++key) {
    if (is_hidden(key)) continue;
    const double weight = std::exp(entry(tensors.key, key, row % kColumns) - seen.largest);
    sum += weight;
    seen.output += weight * entry(tensors.value, key, column);
  }
  seen.output /= sum;
  seen.log_sum_exp = seen.largest + std::log(sum);
  return seen;
}

}  // namespace

TEST_CASE("hidden runs of keys count for nothing, in blocks made up for too") {
  constexpr int kColumn = 3;
  const Problem full = checked_sum_problem(DataType::kBf16, MaskKind::kFull);
  for (const bool by_score : {false, true}) {
    const HostConfig kernels = compile_hidden(full, by_score);
    for (const Named& input : named_logits()) {
      const HostTensors tensors = tensors_of(full, input.logit);
      const HostRun actual = run_on_host(full, kernels, find_architecture("sm_90a"), tensors, {});
      REQUIRE(actual.faults.empty());
      for (int row = 0; row < kQueries; ++row) {
        const SeenRow expected = seen_row(tensors, row, kColumn);
        const auto query = static_cast<std::size_t>(row);
        const double output = static_cast<double>(
            element_to_float(DataType::kBf16, actual.output[query * kColumns + kColumn]));
        const auto log_sum_exp = static_cast<double>(actual.log_sum_exp[query]);
        INFO(input.name << ", by " << (by_score ? "score" : "mask") << ", row " << row);
        CHECK(std::abs(output - expected.output) <= 0.02);
        CHECK(std::abs(log_sum_exp - expected.log_sum_exp) <=
              1e-5 + 1e-6 * std::abs(expected.largest));
      }
    }
  }
}

}  // namespace heddle
