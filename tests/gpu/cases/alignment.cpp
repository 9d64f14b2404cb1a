// C32: a base address or a row pitch that is no multiple of 16 bytes.

#include <algorithm>

#include <catch2/catch.hpp>

#include "runtime/testing/inputs.hpp"
#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/api.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kElementBytes = sizeof(std::uint16_t);
constexpr int kHeadDim = 64;

/// Q, K, V and O, each some elements into a buffer of its own.
struct Placement {
  std::size_t offsets[4] = {};
  long long pitch = kHeadDim;
};

Problem placed_problem(long long pitch) {
  Problem problem;
  problem.variant.head_dim = kHeadDim;
  problem.sizes = {
      .batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 130, .seqlen_kv = 259, .num_splits = 3};
  if (pitch == kHeadDim) return problem;
  const auto strides = [&](const TensorShape& shape) {
    const long long head = shape.rows * pitch;
    return Strides{shape.heads * head, head, pitch};
  };
  Sizes& sizes = problem.sizes;
  sizes.query_strides = sizes.output_strides = strides(query_shape(problem));
  sizes.key_strides = sizes.value_strides = strides(key_value_shape(problem));
  return problem;
}

/// Device copies of a problem's tensors at odd places; what lies around O is watched.
class PlacedTensors {
 public:
  PlacedTensors(const Gpu& gpu, const Problem& problem, const HostTensors& tensors,
                const Placement& placement)
      : problem_(problem), offset_(placement.offsets[3]), log_sum_exp_(gpu.device(), 1 << 20) {
    const std::size_t output = storage_elements(problem.sizes.output_strides, query_shape(problem));
    place(gpu, tensors.query, placement.offsets[0]);
    place(gpu, tensors.key, placement.offsets[1]);
    place(gpu, tensors.value, placement.offsets[2]);
    place(gpu, std::vector<std::uint16_t>(output, kPoison), placement.offsets[3]);
    log_sum_exp_.fill(0xff);
  }

  TensorPointers pointers() const {
    return {at(0), at(1), at(2), at(3), static_cast<float*>(log_sum_exp_.data())};
  }

  Outputs outputs() const {
    Outputs result;
    const std::vector<std::uint16_t> all = everything(3);
    const std::vector<std::uint16_t> storage(all.begin() + static_cast<std::ptrdiff_t>(offset_),
                                             all.end());
    result.output = gather(storage, problem_.sizes.output_strides, query_shape(problem_));
    result.log_sum_exp.resize(result.output.size() / kHeadDim);
    log_sum_exp_.download(result.log_sum_exp.data(), result.log_sum_exp.size() * sizeof(float));
    return result;
  }

  /// The elements before O, between its rows and behind it are as they were.
  bool is_rest_untouched() const {
    std::vector<std::uint16_t> all = everything(3);
    const auto storage = all.begin() + static_cast<std::ptrdiff_t>(offset_);
    const std::vector<std::uint16_t> again =
        scatter(std::vector<std::uint16_t>(query_shape(problem_).elements(), 0),
                problem_.sizes.output_strides, query_shape(problem_));
    for (std::size_t i = 0; i < again.size(); ++i) {
      if (again[i] == 0) storage[static_cast<std::ptrdiff_t>(i)] = kPoison;
    }
    return std::all_of(all.begin(), all.end(), [](auto element) { return element == kPoison; }) &&
           buffers_[3].guards_intact();
  }

 private:
  static constexpr std::uint16_t kPoison = 0xffff;

  void place(const Gpu& gpu, const std::vector<std::uint16_t>& elements, std::size_t offset) {
    std::vector<std::uint16_t> shifted(offset, kPoison);
    shifted.insert(shifted.end(), elements.begin(), elements.end());
    buffers_.emplace_back(gpu.device(), shifted.size() * kElementBytes, kGuardBytes);
    buffers_.back().upload(shifted.data(), shifted.size() * kElementBytes);
    data_.push_back(static_cast<std::uint16_t*>(buffers_.back().data()) + offset);
  }
  void* at(std::size_t tensor) const { return data_[tensor]; }
  std::vector<std::uint16_t> everything(std::size_t tensor) const {
    std::vector<std::uint16_t> all(buffers_[tensor].bytes() / kElementBytes);
    buffers_[tensor].download(all.data(), buffers_[tensor].bytes());
    return all;
  }

  const Problem problem_;
  std::size_t offset_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<std::uint16_t*> data_;
  DeviceBuffer log_sum_exp_;
};

class AlignmentChecks {
 public:
  AlignmentChecks() : context_(create_context()) {
    REQUIRE(context_ != nullptr);
    std::vector<KernelRequest> requests;
    for (const int alignment : {2, 4, 8}) {
      const Variant variant = relaxed(placed_problem(kHeadDim), alignment).variant;
      for (auto& request : random_requests(variant, gpu_.limits(), test_seed())) {
        requests.push_back(std::move(request));
      }
    }
    compile_ahead(gpu_, requests);
  }

  void check(const Placement& placement) {
    const Problem problem = placed_problem(placement.pitch);
    const HostTensors tensors = make_inputs(problem, InputKind::kNormal, test_seed());
    const HostReference expected = host_reference(relaxed(problem, 2), tensors);
    for (const Way& way : kWays) check_way(problem, tensors, expected, placement, way);
    check_api(problem, tensors, expected, placement);
  }

 private:
  static Problem relaxed(Problem problem, int alignment) {
    problem.variant.alignment = alignment;
    return problem;
  }

  void check_way(const Problem& problem, const HostTensors& tensors, const HostReference& expected,
                 const Placement& placement, const Way& way) {
    const PlacedTensors placed(gpu_, problem, tensors, placement);
    const int alignment = alignment_class(problem, placed.pointers());
    CHECK(alignment < 16);
    const Problem asked = relaxed(problem, alignment);
    const Kernel kernel = load_kernel(
        gpu_, asked.variant, random_config(asked.variant, gpu_.limits(), way, test_seed()));
    INFO("alignment " << alignment << ", " << full_text(kernel.config));
    DeviceBuffer workspace(gpu_.device(), workspace_bytes(gpu_, asked, kernel.config));
    TensorPointers pointers = placed.pointers();
    pointers.workspace = workspace.data();
    enqueue(gpu_, asked, kernel, pointers, nullptr);
    gpu_.wait_for(nullptr);
    CHECK(check_all_rows(asked, expected, placed.outputs()) == "");
    CHECK(placed.is_rest_untouched());
  }

  void check_api(const Problem& problem, const HostTensors& tensors, const HostReference& expected,
                 const Placement& placement) {
    const PlacedTensors placed(gpu_, problem, tensors, placement);
    const heddle_problem asked = write_problem(problem);
    heddle_arguments arguments = c_arguments(placed.pointers(), 0);
    std::size_t bytes = 0;
    REQUIRE(failure(context_, heddle_workspace_bytes(context_.get(), &asked, &arguments, &bytes)) ==
            "");
    const DeviceBuffer workspace(gpu_.device(), bytes);
    arguments.workspace = workspace.data();
    arguments.workspace_bytes = bytes;
    REQUIRE(failure(context_, heddle_launch(context_.get(), &asked, &arguments, nullptr)) == "");
    gpu_.wait_for(nullptr);
    CHECK(check_all_rows(relaxed(problem, 2), expected, placed.outputs()) == "");
    CHECK(placed.is_rest_untouched());
  }

  Gpu gpu_;
  ContextHandle context_;
};

}  // namespace

TEST_CASE("C32 one tensor 1, 2 or 4 elements off a 16-byte address") {
  AlignmentChecks checks;
  for (const std::size_t offset : {1, 2, 4}) {
    for (int tensor = 0; tensor < 4; ++tensor) {
      INFO("tensor " << tensor << " of Q K V O, " << offset << " elements off, seed "
                     << test_seed());
      Placement placement;
      placement.offsets[tensor] = offset;
      checks.check(placement);
    }
  }
}

TEST_CASE("C32 rows of 64 elements, 66 apart") {
  INFO("seed " << test_seed());
  AlignmentChecks checks;
  checks.check({.pitch = 66});
}

}  // namespace heddle
