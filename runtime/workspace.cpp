#include "runtime/workspace.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr std::uintptr_t kWorkspaceAlignment = 256;

void require_aligned(const void* data, const char* whose) {
  if (reinterpret_cast<std::uintptr_t>(data) % kWorkspaceAlignment == 0) return;
  throw Error(ErrorCode::kInvalidArgument, "workspace",
              fmt::format("workspace: address {} {} is not a multiple of {} bytes", data, whose,
                          kWorkspaceAlignment));
}

}  // namespace

Workspace::Workspace(const WorkspaceAllocator& allocator, const Context::Call& call,
                     std::size_t needed)
    : allocator_(allocator), stream_(call.stream) {
  if (needed == 0) return;
  if (call.pointers.workspace == nullptr && allocator.allocate != nullptr) {
    allocate(needed);
    return;
  }
  const std::size_t given = call.pointers.workspace == nullptr ? 0 : call.workspace_bytes;
  if (given < needed) {
    throw Error(ErrorCode::kWorkspaceTooSmall, "workspace_bytes",
                fmt::format("workspace_bytes: {} given, {} needed; ask heddle_workspace_bytes, or "
                            "give heddle_options an allocator",
                            given, needed));
  }
  require_aligned(call.pointers.workspace, "given");
  data_ = call.pointers.workspace;
}

void Workspace::allocate(std::size_t needed) {
  const int result = allocator_.allocate(allocator_.user, needed, stream_, &data_);
  if (result != 0 || data_ == nullptr) {
    throw Error(ErrorCode::kOutOfMemory, "allocate",
                fmt::format("allocate: the caller's allocator returned {} for {} bytes of "
                            "workspace; free device memory, or pass a workspace",
                            result, needed));
  }
  bytes_ = needed;
  owned_ = true;
  try {
    require_aligned(data_, "from the caller's allocator");
  } catch (...) {
    // The destructor does not run for a constructor that throws.
    allocator_.release(allocator_.user, data_, bytes_, stream_);
    throw;
  }
}

Workspace::~Workspace() {
  if (owned_) allocator_.release(allocator_.user, data_, bytes_, stream_);
}

}  // namespace heddle
