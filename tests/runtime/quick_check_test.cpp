// The hot path's cheap check never accepts what reject_problem refuses.
#include "runtime/quick_check.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

namespace heddle {
namespace {

class RandomProblems {
 public:
  explicit RandomProblems(unsigned seed) : generator_(seed) {}

  Problem next() {
    Problem problem;
    problem.variant.dtype = pick({DataType::kFp16, DataType::kBf16, DataType::kE4m3}, 2);
    problem.variant.head_dim = pick({64, 128, 256, 8, 0, -8, 100, 264}, 3);
    problem.variant.output_dtype = pick({DataType::kBf16, DataType::kFp16, DataType::kE4m3}, 1);
    problem.variant.scales = pick({ScaleKind::kHead, ScaleKind::kToken}, 1);
    problem.variant.value_layout = pick({ValueLayout::kRows, ValueLayout::kTransposed}, 1);
    if (generator_() % 4 == 0) problem.variant.dtype = DataType::kE4m3;
    problem.variant.alignment = 2;
    Sizes& sizes = problem.sizes;
    sizes.batch = pick({1, 2, 7, 0, -1, 2147483647}, 3);
    sizes.heads = pick({8, 32, 1, 6, 0, -4, 2147483647}, 4);
    sizes.kv_heads = pick({0, 1, 2, 8, 4, -1}, 4);
    sizes.seqlen_q = pick({1, 100, 4096, 0, -1, 2147483647}, 3);
    sizes.seqlen_kv = pick({1, 100, 4096, 0, -1, 2147483647}, 4);
    sizes.num_splits = pick({0, 1, 3, -1, 5000}, 3);
    sizes.scale = pick({0.0, 0.125, 8.0, -1.0, 1e39, 1e-45, std::nan(""), HUGE_VAL}, 3);
    sizes.query_strides = strides();
    sizes.key_strides = strides();
    sizes.value_strides = strides();
    sizes.output_strides = strides();
    return problem;
  }

 private:
  /// Mostly one of the first `usual` values, so that many problems are valid.
  template <class Value>
  Value pick(std::initializer_list<Value> values, std::size_t usual) {
    const std::size_t count = generator_() % 16 == 0 ? values.size() : usual;
    return values.begin()[generator_() % count];
  }
  Strides strides() {
    if (generator_() % 2 == 0) return {};
    return {.batch = pick({4096LL * 256 * 32, 1LL, 0LL, 1LL << 61, -8LL}, 1),
            .head = pick({256LL, 4096LL * 256, 0LL, 1LL << 40, -8LL}, 2),
            .row = pick({256LL, 256LL * 32, 64LL, 0LL, 3LL}, 2)};
  }
  std::mt19937 generator_;
};

TEST_CASE("what the quick check accepts, reject_problem accepts") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  RandomProblems problems(seed);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const Problem problem = problems.next();
    if (!surely_valid(problem)) continue;
    ++accepted;
    const auto rejection = reject_problem(problem);
    CAPTURE(full_text(problem.variant), full_text(problem.sizes));
    REQUIRE((rejection ? rejection->reason : "accepted") == "accepted");
  }
  CHECK(accepted > 1000);
}

TEST_CASE("ordinary problems need no second look") {
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 131072};
  CHECK(surely_valid(problem));
  problem.sizes.seqlen_kv = 0;
  CHECK(surely_valid(problem));
  // [batch, row, head, column] seen as [batch, head, row, column].
  problem.sizes.output_strides = {.batch = 4096, .head = 128, .row = 4096};
  CHECK(surely_valid(problem));
  // e4m3, with the strides that an alignment of 2 bytes allows.
  Problem scaled;
  scaled.variant = {.dtype = DataType::kE4m3,
                    .output_dtype = DataType::kFp16,
                    .scales = ScaleKind::kBlock,
                    .value_layout = ValueLayout::kTransposed};
  scaled.sizes = {.batch = 4, .heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 131072};
  CHECK(surely_valid(scaled));
  scaled.sizes.key_strides = {.batch = 1 << 20, .head = 1 << 20, .row = 129};
  CHECK_FALSE(surely_valid(scaled));
  scaled.variant.head_dim = 72;
  CHECK_FALSE(surely_valid(scaled));
  // 4.3 GB a tensor.
  problem.sizes = {.batch = 8200, .heads = 32, .seqlen_q = 64, .seqlen_kv = 64};
  CHECK(surely_valid(problem));
}

template <class Value>
void change(Value& value) {
  value = static_cast<Value>(static_cast<int>(value) + 1);
}
void change(std::string& value) {
  value = "text";
}

// The kernel table knows a variant by these fields. A field that becomes supported without
// becoming part of KernelKey fails here.
TEST_CASE("every variant field that the kernel key lacks is refused") {
  const Variant plain{};
  for_each_field(plain, [&](const auto& entry, const auto&) {
    const bool in_key = entry.name == "dtype" || entry.name == "head_dim" || entry.name == "mask" ||
                        entry.name == "alignment" || entry.name == "output_dtype" ||
                        entry.name == "scales" || entry.name == "value_layout";
    if (in_key) return;
    Problem problem;
    change(problem.variant.*(entry.member));
    CAPTURE(entry.name);
    CHECK_FALSE(is_plain(problem.variant));
    CHECK_FALSE(surely_valid(problem));
    CHECK_THROWS_AS(require_valid(problem), Error);
  });
}

}  // namespace
}  // namespace heddle
