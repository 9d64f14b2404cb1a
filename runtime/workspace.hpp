#pragma once

#include <cstddef>

#include "runtime/context.hpp"

namespace heddle {

/// The scratch memory of one launch: the caller's, or the allocator's for the scope's duration
/// (stream-ordered: the kernels in the stream keep it until they are done), or none.
class Workspace {
 public:
  /// Throws kWorkspaceTooSmall naming both sizes, kOutOfMemory, or kInvalidArgument (misaligned).
  Workspace(const WorkspaceAllocator& allocator, const Context::Call& call, std::size_t needed);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const noexcept { return data_; }

 private:
  void allocate(std::size_t needed);

  const WorkspaceAllocator& allocator_;
  DriverStream stream_;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
  bool owned_ = false;
};

}  // namespace heddle
