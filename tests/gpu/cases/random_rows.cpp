// The numerical contract on a few rows of a problem too large to compare in full.

#include <algorithm>
#include <random>

#include "runtime/testing/compare.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

struct Row {
  std::size_t batch, head, query;
};

/// Rows of a contiguous problem, each one a problem of its own: one query, and the keys it sees.
class RandomRows {
 public:
  RandomRows(const Gpu& gpu, const Problem& problem, const TensorPointers& pointers)
      : gpu_(gpu), problem_(problem), sizes_(problem_.sizes), pointers_(pointers) {}

  std::string check(const RowSample& sample) {
    std::mt19937_64 random(sample.seed);
    add(0);
    add(rows() - 1);
    for (int i = 2; i < sample.count; ++i) add(random() % rows());
    Problem gathered = problem_;
    gathered.sizes = {.batch = std::max(sample.count, 2),
                      .seqlen_q = 1,
                      .seqlen_kv = sizes_.seqlen_kv,
                      .scale = sizes_.scale};
    return check_all_rows(gathered, expected_, actual_);
  }

 private:
  std::size_t rows() const {
    return static_cast<std::size_t>(sizes_.batch) * sizes_.heads * sizes_.seqlen_q;
  }

  void add(std::size_t index) {
    const auto queries = static_cast<std::size_t>(sizes_.seqlen_q);
    const auto heads = static_cast<std::size_t>(sizes_.heads);
    add(index, {index / queries / heads, index / queries % heads, index % queries});
  }

  void add(std::size_t index, const Row& row) {
    const auto columns = static_cast<std::size_t>(problem_.variant.head_dim);
    const auto kv_heads = static_cast<std::size_t>(sizes_.resolved_kv_heads());
    const std::size_t kv_head = row.head / (sizes_.heads / kv_heads);
    const std::size_t key =
        (row.batch * kv_heads + kv_head) * static_cast<std::size_t>(sizes_.seqlen_kv);
    Problem alone = problem_;
    alone.variant.mask = MaskKind::kFull;
    alone.sizes = {.seqlen_kv = visible_keys(row.query), .scale = sizes_.scale};
    const std::size_t keys = columns * static_cast<std::size_t>(alone.sizes.seqlen_kv);
    const HostTensors tensors{read<std::uint16_t>(pointers_.query, index * columns, columns),
                              read<std::uint16_t>(pointers_.key, key * columns, keys),
                              read<std::uint16_t>(pointers_.value, key * columns, keys)};
    const HostReference expected = host_reference(alone, tensors);
    append(expected_.float64, expected.float64);
    append(expected_.baseline, expected.baseline);
    append(actual_.output, read<std::uint16_t>(pointers_.output, index * columns, columns));
    append(actual_.log_sum_exp, read<float>(pointers_.log_sum_exp, index, 1));
  }

  int visible_keys(std::size_t query) const {
    if (problem_.variant.mask == MaskKind::kFull) return sizes_.seqlen_kv;
    const int last = static_cast<int>(query) + sizes_.seqlen_kv - sizes_.seqlen_q;
    return std::clamp(last + 1, 0, sizes_.seqlen_kv);
  }

  template <class Value>
  std::vector<Value> read(const void* tensor, std::size_t first, std::size_t count) const {
    std::vector<Value> values(count);
    if (count == 0) return values;
    const auto* from = static_cast<const Value*>(tensor) + first;
    gpu_.check(gpu_.api().cuMemcpyDtoH(values.data(), device_address(from), count * sizeof(Value)),
               "cuMemcpyDtoH");
    return values;
  }

  template <class Value>
  static void append(std::vector<Value>& all, const std::vector<Value>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  static void append(AttentionResult& all, const AttentionResult& more) {
    append(all.output, more.output);
    append(all.log_sum_exp, more.log_sum_exp);
    append(all.largest_logit, more.largest_logit);
  }

  const Gpu& gpu_;
  const Problem problem_;
  const Sizes& sizes_;
  const TensorPointers pointers_;
  HostReference expected_;
  Outputs actual_;
};

}  // namespace

std::string check_random_rows(const Gpu& gpu, const Problem& problem,
                              const TensorPointers& pointers, const RowSample& sample) {
  return RandomRows(gpu, problem, pointers).check(sample);
}

}  // namespace heddle
