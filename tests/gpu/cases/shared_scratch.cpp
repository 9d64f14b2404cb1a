// C44: split-KV calls that overlap do not share what they should not.

#include <thread>

#include <catch2/catch.hpp>

#include "tests/gpu/cases/lanes.hpp"

namespace heddle {
namespace {

constexpr int kCalls = 500;

Problem decode_problem() {
  Problem problem;
  problem.sizes = {.heads = 8, .seqlen_q = 1, .seqlen_kv = 32768};
  return problem;
}

/// Two lanes with different data, each of which has run alone.
class TwoLanes {
 public:
  enum class Scratch { kCallers, kAllocators };

  explicit TwoLanes(Scratch scratch)
      : kernels_(gpu_),
        context_(create_context(scratch == Scratch::kAllocators ? stream_ordered_options(gpu_)
                                                                : plain_options())),
        bytes_(scratch == Scratch::kAllocators ? 0 : needed()),
        left_(gpu_, kernels_, {asked_, problem_, test_seed(), bytes_}),
        right_(gpu_, kernels_, {asked_, problem_, test_seed() + 100, bytes_}) {
    CHECK(needed() > 0);  // that is: it does split
    REQUIRE(left_.run_alone(context_) == "");
    REQUIRE(right_.run_alone(context_) == "");
  }

  void check() const {
    left_.wait();
    right_.wait();
    CHECK(left_.differences() == 0);
    CHECK(right_.differences() == 0);
    CHECK(left_.guards_intact());
    CHECK(right_.guards_intact());
  }

  const Gpu& gpu() const { return gpu_; }
  const ContextHandle& context() const { return context_; }
  const Lane& left() const { return left_; }
  const Lane& right() const { return right_; }

 private:
  std::size_t needed() {
    REQUIRE(context_ != nullptr);
    std::size_t bytes = 0;
    REQUIRE(failure(context_, heddle_workspace_bytes(context_.get(), &asked_, nullptr, &bytes)) ==
            "");
    return bytes;
  }

  Gpu gpu_;
  const SmallKernels kernels_;
  const Problem problem_ = decode_problem();
  const heddle_problem asked_ = write_problem(problem_);
  ContextHandle context_;
  std::size_t bytes_;
  Lane left_, right_;
};

/// The first thing that went wrong over all calls of a lane.
std::string run_lane(const TwoLanes& lanes, const Lane& lane) {
  lanes.gpu().device().make_current();
  for (int i = 0; i < kCalls; ++i) {
    if (std::string wrong = lane.enqueue_compared(lanes.context()); !wrong.empty()) return wrong;
  }
  return "";
}

void overlap_streams(const TwoLanes& lanes) {
  INFO("two streams");
  for (int i = 0; i < kCalls; ++i) {
    REQUIRE(lanes.left().enqueue_compared(lanes.context()) == "");
    REQUIRE(lanes.right().enqueue_compared(lanes.context()) == "");
  }
  lanes.check();
}

void overlap_threads(const TwoLanes& lanes) {
  INFO("two threads");
  std::string left;
  std::string right;
  {
    const std::jthread one([&] { left = run_lane(lanes, lanes.left()); });
    const std::jthread other([&] { right = run_lane(lanes, lanes.right()); });
  }
  CHECK(left == "");
  CHECK(right == "");
  lanes.check();
}

void share_one_stream(const TwoLanes& lanes) {
  INFO("one stream");
  for (int i = 0; i < kCalls; ++i) {
    REQUIRE(lanes.left().enqueue_compared(lanes.context()) == "");
    REQUIRE(lanes.right().enqueue_compared(lanes.context(), lanes.left().stream()) == "");
  }
  lanes.check();
}

}  // namespace

TEST_CASE("C44 split-KV calls overlap, the workspace the caller's") {
  const TwoLanes lanes(TwoLanes::Scratch::kCallers);
  overlap_streams(lanes);
  share_one_stream(lanes);
  overlap_threads(lanes);
}

TEST_CASE("C44 split-KV calls overlap, the workspace an allocator's") {
  const TwoLanes lanes(TwoLanes::Scratch::kAllocators);
  overlap_streams(lanes);
  share_one_stream(lanes);
  overlap_threads(lanes);
}

}  // namespace heddle
