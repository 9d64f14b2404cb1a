// Scratch memory of a launch: the caller's, or its allocator's on the call's stream.
#include "runtime/workspace.hpp"

#include <map>

#include "tests/runtime/serving.hpp"

namespace heddle {
namespace {

Problem split_problem() {
  Problem problem = small_problem();
  problem.sizes.seqlen_kv = 4096;
  problem.sizes.num_splits = 4;
  return problem;
}

/// Hands out fake device memory and keeps the books.
struct Books {
  const Serving* serving = nullptr;
  std::map<void*, std::size_t> live;
  std::vector<void*> streams;
  std::size_t misalign = 0;
  bool refuse = false;

  WorkspaceAllocator allocator() { return {&Books::allocate, &Books::release, this}; }

  static int allocate(void* user, std::size_t bytes, void* stream, void** pointer) {
    auto& self = *static_cast<Books*>(user);
    if (self.refuse) return 2;
    *pointer = static_cast<char*>(self.serving->allocate(bytes + 256)) + self.misalign;
    self.live[*pointer] = bytes;
    self.streams.push_back(stream);
    return 0;
  }
  static void release(void* user, void* pointer, std::size_t bytes, void* stream) {
    auto& self = *static_cast<Books*>(user);
    CHECK(self.live.at(pointer) == bytes);
    CHECK(self.streams.back() == stream);
    self.live.erase(pointer);
  }
};

TEST_CASE("a split is honoured and its workspace exact") {
  Serving serving;
  Context context(serving.options());
  Context::Call call{.problem = split_problem(), .pointers = serving.tensors()};
  const std::size_t needed = context.workspace_bytes(call.problem, call.pointers);
  REQUIRE(needed > 0);
  call.pointers.workspace = serving.allocate(needed);
  SECTION("enough") {
    call.workspace_bytes = needed;
    context.launch(call);
    const AttentionParameters parameters = parameters_of(serving.last_launch());
    CHECK(parameters.num_splits == 4);
    CHECK(parameters.partial_output == call.pointers.workspace);
  }
  SECTION("one byte less") {
    call.workspace_bytes = needed - 1;
    require_error(ErrorCode::kWorkspaceTooSmall,
                  {"workspace_bytes", std::to_string(needed - 1), std::to_string(needed)},
                  [&] { context.launch(call); });
    CHECK(serving.cuda.launch_count() == 0);
  }
  SECTION("none") {
    call.pointers.workspace = nullptr;
    require_error(ErrorCode::kWorkspaceTooSmall, {"0 given", std::to_string(needed), "allocator"},
                  [&] { context.launch(call); });
  }
  SECTION("misaligned") {
    call.pointers.workspace = static_cast<char*>(call.pointers.workspace) + 16;
    call.workspace_bytes = needed;
    require_error(ErrorCode::kInvalidArgument, {"workspace", "256"}, [&] { context.launch(call); });
  }
}

TEST_CASE("the allocator serves calls without a workspace, each its own, on its stream") {
  Serving serving;
  Books books{.serving = &serving, .live = {}, .streams = {}};
  auto options = serving.options();
  options.allocator = books.allocator();
  Context context(std::move(options));
  Context::Call call{.problem = split_problem(), .pointers = serving.tensors()};
  std::vector<void*> partials;
  const DriverStream streams[] = {serving.cuda.create_stream(serving.context),
                                  serving.cuda.create_stream(serving.context)};
  for (const DriverStream stream : streams) {
    call.stream = stream;
    context.launch(call);
    partials.push_back(parameters_of(serving.last_launch()).partial_output);
  }
  CHECK(books.streams == std::vector<void*>{streams[0], streams[1]});
  CHECK(partials[0] != partials[1]);
  CHECK(books.live.empty());
  SECTION("a refused launch gives the memory back") {
    serving.cuda.fail_next("cuLaunchKernel", kDriverInvalidValue);
    CHECK_THROWS_AS(context.launch(call), Error);
    CHECK(books.live.empty());
  }
  SECTION("an allocator that fails") {
    books.refuse = true;
    require_error(ErrorCode::kOutOfMemory, {"allocate", "returned 2"},
                  [&] { context.launch(call); });
  }
  SECTION("an allocator that misaligns") {
    books.misalign = 8;
    require_error(ErrorCode::kInvalidArgument, {"workspace", "allocator"},
                  [&] { context.launch(call); });
    CHECK(books.live.empty());
  }
}

TEST_CASE("a problem that needs no workspace asks nobody for one") {
  Serving serving;
  Books books{.serving = &serving, .live = {}, .streams = {}};
  auto options = serving.options();
  options.allocator = books.allocator();
  Context context(std::move(options));
  Context::Call call{.problem = small_problem(), .pointers = serving.tensors()};
  REQUIRE(context.workspace_bytes(call.problem, call.pointers) == 0);
  context.launch(call);
  CHECK(books.streams.empty());
}

}  // namespace
}  // namespace heddle
