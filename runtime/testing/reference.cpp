#include "runtime/testing/reference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <type_traits>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

constexpr int kLanes = 16;                 // sums kept in registers by the inner loop
constexpr int kKeyBlock = 64;              // keys converted to floating point at a time
constexpr int kQueryBlock = 64;            // rows that share such a block
constexpr long long kMaxScores = 1 << 20;  // scores held by one thread: whole rows, never N x N

constexpr int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

struct TensorView {
  const std::uint16_t* data;
  Strides strides;

  const std::uint16_t* row(long long batch, long long head, long long index) const {
    return data + batch * strides.batch + head * strides.head + index * strides.row;
  }
};

TensorView view(const std::vector<std::uint16_t>& storage, const Strides& strides,
                const TensorShape& shape, const char* name) {
  const std::size_t needed = storage_elements(strides, shape);
  if (storage.size() < needed) {
    throw Error(ErrorCode::kInvalidArgument, name,
                std::string(name) + ": " + std::to_string(storage.size()) +
                    " elements, but its shape and strides reach " + std::to_string(needed));
  }
  return {storage.data(), effective_strides(strides, shape)};
}

/// What all threads read.
struct Inputs {
  Inputs(const Problem& asked, const HostTensors& tensors)
      : problem(asked),
        query(view(tensors.query, asked.sizes.query_strides, query_shape(asked), "query")),
        key(view(tensors.key, asked.sizes.key_strides, key_value_shape(asked), "key")),
        value(view(tensors.value, asked.sizes.value_strides, key_value_shape(asked), "value")) {}

  const Problem& problem;
  TensorView query, key, value;
};

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
/// float for the baseline, which also rounds P and O to the element type.
template <class Real>
class BlockSolver {
 public:
  explicit BlockSolver(const Inputs& inputs)
      : inputs_(inputs),
        head_dim_(inputs.problem.variant.head_dim),
        padded_dim_(round_up(head_dim_, kLanes)),
        score_stride_(round_up(std::max(inputs.problem.sizes.seqlen_kv, 1), kKeyBlock)),
        block_rows_(
            static_cast<int>(std::clamp<long long>(kMaxScores / score_stride_, 1, kQueryBlock))),
        scale_(static_cast<Real>(resolved_scale(inputs.problem.variant, inputs.problem.sizes))),
        queries_(static_cast<std::size_t>(block_rows_) * head_dim_),
        sums_(static_cast<std::size_t>(block_rows_) * padded_dim_),
        scores_(static_cast<std::size_t>(block_rows_) * score_stride_),
        block_(static_cast<std::size_t>(kKeyBlock) * padded_dim_),
        visible_(block_rows_) {}

  long long blocks_per_head() const {
    return (inputs_.problem.sizes.seqlen_q + block_rows_ - 1) / block_rows_;
  }

  void solve(long long task, AttentionResult& result) {
    const Sizes& sizes = inputs_.problem.sizes;
    first_row_ = static_cast<int>(task % blocks_per_head()) * block_rows_;
    const long long head_index = task / blocks_per_head();
    head_ = head_index % sizes.heads;
    batch_ = head_index / sizes.heads;
    kv_head_ = head_ / (sizes.heads / sizes.resolved_kv_heads());
    rows_ = std::min(block_rows_, sizes.seqlen_q - first_row_);
    const long long result_row = head_index * sizes.seqlen_q + first_row_;

    load_queries();
    compute_scores();
    for (int row = 0; row < rows_; ++row) softmax(row, result_row + row, result);
    multiply_values();
    for (int row = 0; row < rows_; ++row) {
      for (int column = 0; column < head_dim_; ++column) {
        result.output[(result_row + row) * head_dim_ + column] =
            rounded(sums_[row * padded_dim_ + column]);
      }
    }
  }

 private:
  Real rounded(Real value) const {
    if constexpr (std::is_same_v<Real, double>) return value;
    return static_cast<Real>(
        round_to_element(inputs_.problem.variant.dtype, static_cast<float>(value)));
  }

  Real load(std::uint16_t bits) const {
    return static_cast<Real>(element_to_float(inputs_.problem.variant.dtype, bits));
  }

  Real* score_row(int row) {
    return scores_.data() + static_cast<std::size_t>(row) * score_stride_;
  }

  int visible_keys(int query) const {
    const Sizes& sizes = inputs_.problem.sizes;
    if (inputs_.problem.variant.mask == MaskKind::kFull) return sizes.seqlen_kv;
    const long long diagonal = static_cast<long long>(query) + sizes.seqlen_kv - sizes.seqlen_q;
    return static_cast<int>(std::clamp<long long>(diagonal + 1, 0, sizes.seqlen_kv));
  }

  void load_queries() {
    for (int row = 0; row < rows_; ++row) {
      const std::uint16_t* from = inputs_.query.row(batch_, head_, first_row_ + row);
      for (int column = 0; column < head_dim_; ++column) {
        queries_[row * head_dim_ + column] = load(from[column]);
      }
      visible_[row] = visible_keys(first_row_ + row);
    }
  }

  /// Raw dot products. Keys are transposed into block_ so that the lanes run along the keys.
  void compute_scores() {
    const int last_key = visible_[rows_ - 1];  // later rows see no fewer keys
    for (int begin = 0; begin < last_key; begin += kKeyBlock) {
      const int count = std::min(kKeyBlock, last_key - begin);
      for (int key = 0; key < count; ++key) {
        const std::uint16_t* from = inputs_.key.row(batch_, kv_head_, begin + key);
        for (int column = 0; column < head_dim_; ++column) {
          block_[column * kKeyBlock + key] = load(from[column]);
        }
      }
      for (int row = 0; row < rows_; ++row) {
        const int wanted = std::min(count, visible_[row] - begin);
        Real* scores = score_row(row) + begin;
        for (int key = 0; key < wanted; key += kLanes) {
          std::fill_n(scores + key, kLanes, Real(0));
          multiply_add(&queries_[row * head_dim_], head_dim_, &block_[key], kKeyBlock,
                       scores + key);
        }
      }
    }
  }

  /// Turns a row of scores into probabilities, and writes its LSE.
  void softmax(int row, long long result_row, AttentionResult& result) {
    constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
    Real* scores = score_row(row);
    const int count = visible_[row];
    Real maximum = -kInfinity;
    Real largest = 0;
    bool poisoned = false;
    for (int key = 0; key < count; ++key) {
      const Real score = scores[key] *= scale_;
      poisoned = poisoned || !(score < kInfinity);
      maximum = std::max(maximum, score);
      if (std::isfinite(score)) largest = std::max(largest, std::abs(score));
    }
    result.largest_logit[result_row] = largest;
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
    for (int key = 0; key < count; ++key) scores[key] = rounded(scores[key] / sum);
    result.log_sum_exp[result_row] = maximum + std::log(sum);
  }

  void multiply_values() {
    std::fill(sums_.begin(), sums_.end(), Real(0));
    const int last_key = visible_[rows_ - 1];
    for (int begin = 0; begin < last_key; begin += kKeyBlock) {
      const int count = std::min(kKeyBlock, last_key - begin);
      std::fill(block_.begin(), block_.end(), Real(0));
      for (int key = 0; key < count; ++key) {
        const std::uint16_t* from = inputs_.value.row(batch_, kv_head_, begin + key);
        for (int column = 0; column < head_dim_; ++column) {
          block_[key * padded_dim_ + column] = load(from[column]);
        }
      }
      for (int row = 0; row < rows_; ++row) {
        const int wanted = std::min(count, visible_[row] - begin);
        for (int column = 0; column < padded_dim_ && wanted > 0; column += kLanes) {
          multiply_add(score_row(row) + begin, wanted, &block_[column], padded_dim_,
                       &sums_[row * padded_dim_ + column]);
        }
      }
    }
  }

  const Inputs& inputs_;
  const int head_dim_, padded_dim_, score_stride_, block_rows_;
  const Real scale_;
  std::vector<Real> queries_, sums_, scores_, block_;
  std::vector<int> visible_;  ///< keys each row of the block sees
  long long batch_ = 0, head_ = 0, kv_head_ = 0;
  int first_row_ = 0, rows_ = 0;
};

/// Threads take blocks in turn; each keeps its own scratch memory.
template <class Real>
void solve_all(const Inputs& inputs, AttentionResult& result) {
  const Sizes& sizes = inputs.problem.sizes;
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
  const Inputs inputs(problem, tensors);
  if (mode == ReferenceMode::kFloat64) {
    solve_all<double>(inputs, result);
  } else {
    solve_all<float>(inputs, result);
  }
  return result;
}

}  // namespace heddle
