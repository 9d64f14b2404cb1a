#include "runtime/testing/reference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <type_traits>

#include "runtime/testing/cut_scores.hpp"
#include "runtime/testing/reference_inputs.hpp"

namespace heddle {
namespace {

constexpr int kLanes = kCutLanes;          // sums kept in registers by the inner loop
constexpr int kKeyBlock = 64;              // keys converted to floating point at a time
constexpr int kQueryBlock = 64;            // rows that share such a block
constexpr long long kMaxScores = 1 << 20;  // scores held by one thread: whole rows, never N x N
constexpr int kE4m3Gain = 16;  // the kernels' P is 2^4 p, so that few of its numbers are subnormal

constexpr int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

constexpr double kDeviations = 4;  // that cuts of 8-bit scores are allowed

/// sums[lane] += Σ weights[i] * matrix[i][lane]: both matrix products are made of this.
template <class Real>
void multiply_add(const Real* weights, int count, const Real* matrix, int stride, Real* sums) {
  Real local[kLanes];
  std::copy_n(sums, kLanes, local);
  for (int i = 0; i < count; ++i) {
    const Real* row = matrix + static_cast<std::ptrdiff_t>(i) * stride;
    for (int lane = 0; lane < kLanes; ++lane) local[lane] += weights[i] * row[lane];
  }
  std::copy_n(local, kLanes, sums);
}

/// Attention of one block of query rows of one head at a time. Real is double for the reference and
/// float for the baseline, which also rounds P to the input type and O to its own, and forms scores
/// of 8-bit elements as tensor cores do.
template <class Real>
class BlockSolver {
 public:
  explicit BlockSolver(const ReferenceInputs& inputs)
      : inputs_(inputs),
        variant_(inputs.problem().variant),
        sizes_(inputs.problem().sizes),
        head_dim_(variant_.head_dim),
        padded_dim_(round_up(head_dim_, kLanes)),
        score_stride_(round_up(std::max(sizes_.seqlen_kv, 1), kKeyBlock)),
        block_rows_(
            static_cast<int>(std::clamp<long long>(kMaxScores / score_stride_, 1, kQueryBlock))),
        scale_(static_cast<Real>(resolved_scale(variant_, sizes_))),
        queries_(static_cast<std::size_t>(block_rows_) * head_dim_),
        sums_(static_cast<std::size_t>(block_rows_) * padded_dim_),
        scores_(static_cast<std::size_t>(block_rows_) * score_stride_),
        block_(static_cast<std::size_t>(kKeyBlock) * padded_dim_),
        visible_(block_rows_),
        factors_(block_rows_, Real(1)),
        key_scales_(score_stride_, Real(1)) {}

  long long blocks_per_head() const { return (sizes_.seqlen_q + block_rows_ - 1) / block_rows_; }

  void solve(long long task, AttentionResult& result) {
    first_row_ = static_cast<int>(task % blocks_per_head()) * block_rows_;
    const long long head_index = task / blocks_per_head();
    head_ = head_index % sizes_.heads;
    batch_ = head_index / sizes_.heads;
    kv_head_ = head_ / (sizes_.heads / sizes_.resolved_kv_heads());
    rows_ = std::min(block_rows_, sizes_.seqlen_q - first_row_);
    const long long result_row = head_index * sizes_.seqlen_q + first_row_;

    load_queries();
    if (is_e4m3()) load_key_scales();
    compute_scores();
    for (int row = 0; row < rows_; ++row) softmax(row, result_row + row, result);
    if constexpr (std::is_same_v<Real, double>) {
      if (!result.cut_error.empty()) measure_cuts(result_row, result);
    }
    multiply_values();
    for (int row = 0; row < rows_; ++row) store_output(row, result_row + row, result);
  }

 private:
  bool is_e4m3() const { return variant_.dtype == DataType::kE4m3; }

  Real rounded(DataType type, Real value) const {
    if constexpr (std::is_same_v<Real, double>) return value;
    return static_cast<Real>(round_to_element(type, static_cast<float>(value)));
  }

  Real* score_row(int row) {
    return scores_.data() + static_cast<std::size_t>(row) * score_stride_;
  }

  int visible_keys(int query) const {
    if (variant_.mask == MaskKind::kFull) return sizes_.seqlen_kv;
    const long long diagonal = static_cast<long long>(query) + sizes_.seqlen_kv - sizes_.seqlen_q;
    return static_cast<int>(std::clamp<long long>(diagonal + 1, 0, sizes_.seqlen_kv));
  }

  void load_queries() {
    for (int row = 0; row < rows_; ++row) {
      inputs_.read_query(batch_, head_, first_row_ + row, &queries_[row * head_dim_]);
      visible_[row] = visible_keys(first_row_ + row);
    }
    find_powers(queries_, query_powers_);
  }

  /// What scores of 8-bit elements are cut by.
  void find_powers(const std::vector<Real>& numbers, std::vector<float>& powers) const {
    if constexpr (std::is_same_v<Real, float>) {
      if (!is_e4m3()) return;
      powers.resize(numbers.size());
      leading_powers(numbers.data(), static_cast<int>(numbers.size()), powers.data());
    }
  }

  /// Keys of a block, transposed so that the lanes run along the keys.
  void load_keys(int begin, int count) {
    for (int key = 0; key < count; ++key) {
      inputs_.read_key(batch_, kv_head_, begin + key, &block_[key], kKeyBlock);
    }
    find_powers(block_, block_powers_);
  }

  /// Raw dot products.
  void compute_scores() {
    const int last_key = visible_[rows_ - 1];  // later rows see no fewer keys
    for (int begin = 0; begin < last_key; begin += kKeyBlock) {
      const int count = std::min(kKeyBlock, last_key - begin);
      load_keys(begin, count);
      for (int row = 0; row < rows_; ++row) {
        const int wanted = std::min(count, visible_[row] - begin);
        for (int key = 0; key < wanted; key += kLanes) {
          multiply_keys(row, key, score_row(row) + begin + key);
        }
      }
    }
  }

  /// The raw scores of a row and kLanes keys of the block.
  void multiply_keys(int row, int key, Real* scores) const {
    const auto first = static_cast<std::ptrdiff_t>(row) * head_dim_;
    if constexpr (std::is_same_v<Real, float>) {
      if (is_e4m3()) {
        return cut_dots({&queries_[first], &query_powers_[first], 1},
                        {&block_[key], &block_powers_[key], kKeyBlock}, head_dim_, scores);
      }
    }
    std::fill_n(scores, kLanes, Real(0));
    multiply_add(&queries_[first], head_dim_, &block_[key], kKeyBlock, scores);
  }

  /// What a row's raw scores are multiplied by, besides their keys' scales.
  Real row_factor(int row) const {
    return scale_ * inputs_.query_scale(batch_, head_, first_row_ + row);
  }

  void load_key_scales() {
    for (int key = 0; key < sizes_.seqlen_kv; ++key) {
      key_scales_[key] = inputs_.key_scale(batch_, kv_head_, key);
    }
  }

  /// What the log-sum-exp of each row may lose to the tensor cores' cuts, once its scores are
  /// weights.
  void measure_cuts(long long result_row, AttentionResult& result) {
    std::vector<double> bias(rows_), variance(rows_);
    const int last_key = visible_[rows_ - 1];
    for (int begin = 0; begin < last_key; begin += kKeyBlock) {
      const int count = std::min(kKeyBlock, last_key - begin);
      load_keys(begin, count);
      for (int row = 0; row < rows_; ++row) {
        const int wanted = std::min(count, visible_[row] - begin);
        for (int key = 0; key < wanted; ++key) {
          const double weight = score_row(row)[begin + key] * factors_[row];
          if (!(weight > 0)) continue;
          const LogitCut cut = logit_cut(&queries_[row * head_dim_], &block_[key], kKeyBlock,
                                         head_dim_, row_factor(row) * key_scales_[begin + key]);
          bias[row] += weight * cut.bias;
          variance[row] += weight * weight * cut.deviation * cut.deviation;
        }
      }
    }
    for (int row = 0; row < rows_; ++row) {
      result.cut_error[result_row + row] = bias[row] + kDeviations * std::sqrt(variance[row]);
    }
  }

  /// Turns a row of scores into weights of V, which add up to 1 / factors_[row], and writes its
  /// LSE.
  void softmax(int row, long long result_row, AttentionResult& result) {
    constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
    Real* scores = score_row(row);
    const int count = visible_[row];
    const Real factor = row_factor(row);
    const Real shift = inputs_.log_sum_exp_shift(result_row);
    Real maximum = -kInfinity;
    Real largest = 0;
    bool poisoned = false;
    for (int key = 0; key < count; ++key) {
      const Real score = scores[key] *= factor * key_scales_[key];
      poisoned = poisoned || !(score < kInfinity);
      maximum = std::max(maximum, score);
      if (!std::isfinite(score)) continue;
      largest = std::max({largest, std::abs(score), std::abs(score + shift)});
    }
    result.largest_logit[result_row] = largest;
    factors_[row] = 1;
    if (poisoned) {
      std::fill_n(scores, count, std::numeric_limits<Real>::quiet_NaN());
      result.log_sum_exp[result_row] = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    if (maximum == -kInfinity) {
      std::fill_n(scores, count, Real(0));
      result.log_sum_exp[result_row] = -std::numeric_limits<double>::infinity();
      return;
    }
    Real sum = 0;
    for (int key = 0; key < count; ++key) sum += scores[key] = std::exp(scores[key] - maximum);
    if (is_e4m3()) {
      // As the kernels do it: the largest p of a row is a constant, and 1 / sum multiplies O.
      for (int key = 0; key < count; ++key) {
        scores[key] = rounded(variant_.dtype, kE4m3Gain * scores[key]);
      }
      factors_[row] = 1 / (kE4m3Gain * sum);
    } else {
      for (int key = 0; key < count; ++key) {
        scores[key] = rounded(variant_.dtype, scores[key] / sum);
      }
    }
    result.log_sum_exp[result_row] = maximum + std::log(sum) + shift;
  }

  /// A row without keys, or whose logits are all -Inf, stays 0 although V had a mean.
  void store_output(int row, long long result_row, AttentionResult& result) const {
    const bool has_keys =
        result.log_sum_exp[result_row] != -std::numeric_limits<double>::infinity();
    const Real factor = factors_[row] * inputs_.value_scale(batch_, kv_head_);
    for (int column = 0; column < head_dim_; ++column) {
      const Real mean = has_keys ? inputs_.value_mean(batch_, kv_head_, column) : 0.0f;
      result.output[result_row * head_dim_ + column] =
          rounded(output_type(variant_), sums_[row * padded_dim_ + column] * factor + mean);
    }
  }

  void multiply_values() {
    std::fill(sums_.begin(), sums_.end(), Real(0));
    const int last_key = visible_[rows_ - 1];
    for (int begin = 0; begin < last_key; begin += kKeyBlock) {
      const int count = std::min(kKeyBlock, last_key - begin);
      std::fill(block_.begin(), block_.end(), Real(0));
      inputs_.read_values(batch_, kv_head_, begin, count, block_.data(), padded_dim_);
      for (int row = 0; row < rows_; ++row) {
        const int wanted = std::min(count, visible_[row] - begin);
        for (int column = 0; column < padded_dim_ && wanted > 0; column += kLanes) {
          multiply_add(score_row(row) + begin, wanted, &block_[column], padded_dim_,
                       &sums_[row * padded_dim_ + column]);
        }
      }
    }
  }

  const ReferenceInputs& inputs_;
  const Variant& variant_;
  const Sizes& sizes_;
  const int head_dim_, padded_dim_, score_stride_, block_rows_;
  const Real scale_;
  std::vector<Real> queries_, sums_, scores_, block_;
  std::vector<int> visible_;   ///< keys each row of the block sees
  std::vector<Real> factors_;  ///< what multiplies each row's weighted sum of V
  std::vector<Real> key_scales_;
  std::vector<float> query_powers_, block_powers_;
  long long batch_ = 0, head_ = 0, kv_head_ = 0;
  int first_row_ = 0, rows_ = 0;
};

/// Threads take blocks in turn; each keeps its own scratch memory.
template <class Real>
void solve_all(const ReferenceInputs& inputs, AttentionResult& result) {
  const Sizes& sizes = inputs.problem().sizes;
  std::atomic<long long> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const long long heads = static_cast<long long>(sizes.batch) * sizes.heads;
  const auto work = [&] {
    try {
      BlockSolver<Real> solver(inputs);
      const long long tasks = heads * solver.blocks_per_head();
      for (long long task = next++; task < tasks; task = next++) solver.solve(task, result);
    } catch (...) {
      const std::scoped_lock lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  const long long rows = heads * sizes.seqlen_q;
  const long long limit = std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> threads;
    for (long long i = 1; i < std::min(limit, rows); ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

AttentionResult reference_attention(const Problem& problem, const HostTensors& tensors,
                                    ReferenceMode mode) {
  require(reject_problem(problem));
  const TensorShape shape = query_shape(problem);
  const std::size_t rows = static_cast<std::size_t>(shape.batch) * shape.heads * shape.rows;
  AttentionResult result;
  result.output.resize(shape.elements());
  result.log_sum_exp.resize(rows);
  result.largest_logit.resize(rows);
  if (is_empty(problem.sizes)) return result;
  const ReferenceInputs inputs(problem, tensors);
  if (mode == ReferenceMode::kFloat64) {
    if (problem.variant.dtype == DataType::kE4m3) result.cut_error.resize(rows);
    solve_all<double>(inputs, result);
  } else {
    solve_all<float>(inputs, result);
  }
  return result;
}

}  // namespace heddle
