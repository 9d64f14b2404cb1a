#pragma once
// Which memory a launch may touch, and who touched what of it between blocks.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

enum class BufferAccess { kRead, kReadWrite };

/// A piece of "global memory".
struct HostBuffer {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::string name;  ///< "K", "workspace": what reports call it
  BufferAccess access = BufferAccess::kRead;
};

/// For each byte of a writable buffer the block that wrote it and the one that read it: blocks of a
/// launch are never ordered, so that a second one is a race whenever one of them writes.
class BlockOwners {
 public:
  explicit BlockOwners(std::size_t bytes) : writers_(bytes), readers_(bytes) {}

  /// The block that `block` collides with, or -1.
  int touch(std::size_t offset, std::size_t bytes, int block, bool write);

 private:
  using Owner = std::atomic<std::int32_t>;  ///< block + 1; 0 = nobody; -1 = several
  std::vector<Owner> writers_;
  std::vector<Owner> readers_;
};

/// Bytes of a buffer that a launch asked for, caches aside.
struct BufferTraffic {
  std::string name;
  long long read = 0;
  long long written = 0;
};

struct MemoryRegion {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::string name;
  bool writable = false;
  std::unique_ptr<BlockOwners> owners;  ///< writable buffers only
  // Behind pointers, since regions move and atomics do not.
  using Counter = std::unique_ptr<std::atomic<long long>>;
  Counter read = std::make_unique<std::atomic<long long>>(0);     ///< bytes
  Counter written = std::make_unique<std::atomic<long long>>(0);  ///< bytes

  bool contains(const char* address, long long bytes) const {
    return address >= begin && bytes <= end - address && address < end;
  }
  /// Counts an access; blocks run at once.
  void count(long long bytes, bool write) const {
    (write ? *written : *read).fetch_add(bytes, std::memory_order_relaxed);
  }
};

class MemoryMap {
 public:
  explicit MemoryMap(const std::vector<HostBuffer>& buffers);

  /// The region that holds all of [address, address + bytes), or null.
  const MemoryRegion* find(const void* address, long long bytes) const;
  /// "3 bytes past the end of K", of the nearest region.
  std::string describe(const void* address) const;
  /// Read-only memory of the program itself: constants of the kernel.
  void add_image(const void* address_within);
  /// Of each buffer so far, in the order given; images and empty buffers are left out.
  std::vector<BufferTraffic> traffic() const;

 private:
  std::vector<MemoryRegion> regions_;  ///< the buffers, then the images' segments
  std::ptrdiff_t buffer_count_ = 0;
};

}  // namespace heddle
