// C04: lengths around tile edges, every pair of them.

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include <catch2/catch.hpp>

#include "runtime/testing/inputs.hpp"
#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/arena.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr int kLengths[] = {1,  2,  7,   8,   15,  16,  17,  31,  33,  63,
                            64, 65, 127, 128, 129, 191, 192, 193, 255, 257};
/// Rows of a head's queries that see keys, over the batch: the contract sets the largest of the
/// kernel's errors against the largest of the baseline's, and a single row is a poor sample of
/// both.
constexpr int kRows = 16;
constexpr int kSplits = 3;
constexpr std::size_t kWorkspaceAlignment = 256;

/// One pair of lengths: what is right, and where its tensors lie in the arena.
struct Entry {
  Problem problem;
  HostTensors tensors;
  HostReference expected;
  std::size_t query, key, value, output, log_sum_exp;
};

std::size_t output_elements(const Entry& entry) {
  return query_shape(entry.problem).elements();
}

std::size_t row_count(const Entry& entry) {
  return entry.expected.float64.log_sum_exp.size();
}

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (auto& thread : threads) {
    thread = std::jthread([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  }
}

/// Both element types get both masks, and head dims by the seed.
Variant variant_of(int head_dim, MaskKind mask) {
  const bool odd = (head_dim == 64) != (test_seed() % 2 == 0);
  return {.dtype = odd ? DataType::kFp16 : DataType::kBf16, .head_dim = head_dim, .mask = mask};
}

class LengthCross {
 public:
  LengthCross(const Gpu& gpu, const Variant& variant) : gpu_(gpu), variant_(variant) {
    for (const int queries : kLengths) {
      for (const int keys : kLengths) entries_.push_back({.problem = problem_of(queries, keys)});
    }
    on_all_cores(entries_.size(), [&](std::size_t i) {
      Entry& entry = entries_[i];
      entry.tensors = make_inputs(entry.problem, InputKind::kNormal, test_seed() + i);
      entry.expected = host_reference(entry.problem, entry.tensors);
    });
    for (Entry& entry : entries_) place(entry);
    buffer_.emplace(gpu.device(), arena_.bytes());
  }

  /// Every pair of lengths by one config: the number that went wrong, and the first in words.
  struct Findings {
    int wrong = 0;
    std::string first;
  };
  Findings check(const Kernel& kernel) {
    arena_.upload(*buffer_);
    launch_all(kernel);
    const auto bytes = arena_.download(*buffer_);
    std::vector<std::string> wrong(entries_.size());
    on_all_cores(entries_.size(), [&](std::size_t i) { wrong[i] = explain(entries_[i], bytes); });
    if (arena_.has_stray_writes(bytes)) wrong.push_back("an input or a guard was written to");
    std::erase(wrong, "");
    return {static_cast<int>(wrong.size()), wrong.empty() ? "" : wrong.front()};
  }

 private:
  Problem problem_of(int queries, int keys) const {
    const bool causal = variant_.mask == MaskKind::kCausal;
    const int rows = causal ? std::min(queries, keys) : queries;
    Problem problem;
    problem.variant = variant_;
    problem.sizes = {.batch = (kRows + rows - 1) / rows,
                     .heads = 2,
                     .seqlen_q = queries,
                     .seqlen_kv = keys,
                     .num_splits = kSplits};
    return problem;
  }

  void place(Entry& entry) {
    entry.query = arena_.add_input(entry.tensors.query);
    entry.key = arena_.add_input(entry.tensors.key);
    entry.value = arena_.add_input(entry.tensors.value);
    entry.output = arena_.add_output(output_elements(entry) * sizeof(std::uint16_t));
    entry.log_sum_exp = arena_.add_output(row_count(entry) * sizeof(float));
    entry.tensors = {};
  }

  /// A piece of poisoned workspace for each, so that none meets what another left.
  void launch_all(const Kernel& kernel) const {
    std::vector<std::size_t> places{0};
    for (const Entry& entry : entries_) {
      const std::size_t bytes = workspace_bytes(gpu_, entry.problem, kernel.config);
      places.push_back(places.back() + (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                           kWorkspaceAlignment);
    }
    DeviceBuffer workspace(gpu_.device(), places.back() + kWorkspaceAlignment);
    workspace.fill(0xff);
    const auto at = [](const DeviceBuffer& buffer, std::size_t offset) {
      return static_cast<void*>(static_cast<char*>(buffer.data()) + offset);
    };
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      const TensorPointers pointers{at(*buffer_, entry.query),
                                    at(*buffer_, entry.key),
                                    at(*buffer_, entry.value),
                                    at(*buffer_, entry.output),
                                    static_cast<float*>(at(*buffer_, entry.log_sum_exp)),
                                    at(workspace, places[i])};
      enqueue(gpu_, entry.problem, kernel, pointers, nullptr);
    }
    gpu_.wait_for(nullptr);
  }

  static std::string explain(const Entry& entry, const std::vector<unsigned char>& bytes) {
    const Outputs actual{Arena::read<std::uint16_t>(bytes, entry.output, output_elements(entry)),
                         Arena::read<float>(bytes, entry.log_sum_exp, row_count(entry))};
    const std::string wrong = check_all_rows(entry.problem, entry.expected, actual);
    return wrong.empty() ? "" : canonical_text(entry.problem.sizes) + ": " + wrong;
  }

  const Gpu& gpu_;
  const Variant variant_;
  std::vector<Entry> entries_;
  Arena arena_;
  std::optional<DeviceBuffer> buffer_;
};

}  // namespace

TEST_CASE("C04 one config of every family is right at every pair of lengths around tile edges") {
  Gpu gpu;
  std::vector<Variant> variants;
  std::vector<KernelRequest> requests;
  for (const int head_dim : {64, 128}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      variants.push_back(variant_of(head_dim, mask));
      const auto more = random_requests(variants.back(), gpu.limits(), test_seed());
      requests.insert(requests.end(), more.begin(), more.end());
    }
  }
  compile_ahead(gpu, requests);
  for (const Variant& variant : variants) {
    LengthCross lengths(gpu, variant);
    for (const KernelRequest& request : random_requests(variant, gpu.limits(), test_seed())) {
      const auto findings = lengths.check(load_kernel(gpu, variant, request.config));
      INFO(full_text(variant) << "; " << full_text(request.config) << "; seed " << test_seed());
      INFO(findings.wrong << " wrong, the first: " << findings.first);
      CHECK(findings.wrong == 0);
    }
  }
}

}  // namespace heddle
