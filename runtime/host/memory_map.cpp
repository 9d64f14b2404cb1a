#include "runtime/host/memory_map.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace heddle {
namespace {

struct ImageSearch {
  const char* within;
  std::vector<MemoryRegion>* regions;
};

/// Adds the loadable segments of the shared object that holds `within`.
int visit_image(dl_phdr_info* info, std::size_t, void* data) {
  const auto& search = *static_cast<const ImageSearch*>(data);
  std::vector<MemoryRegion> segments;
  bool found = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    MemoryRegion segment;
    segment.begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    segment.end = segment.begin + header.p_memsz;
    segment.name = "the kernel's constants";
    found = found || segment.contains(search.within, 1);
    segments.push_back(std::move(segment));
  }
  if (!found) return 0;
  for (MemoryRegion& segment : segments) search.regions->push_back(std::move(segment));
  return 1;
}

}  // namespace

int BlockOwners::touch(std::size_t offset, std::size_t bytes, int block, bool write) {
  const std::int32_t self = block + 1;
  int collision = -1;
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    Owner& own = write ? writers_[i] : readers_[i];
    std::int32_t before = own.load(std::memory_order_relaxed);
    if (before != self) {
      before = own.exchange(self);
      if (before != 0 && before != self) {
        if (write)
          collision = before - 1;
        else
          own.store(-1);
      }
    }
    const std::int32_t writer = writers_[i].load();
    if (writer != 0 && writer != self) collision = writer - 1;
    const std::int32_t reader = write ? readers_[i].load() : 0;
    if (reader != 0 && reader != self) collision = reader > 0 ? reader - 1 : -2;
  }
  return collision;
}

MemoryMap::MemoryMap(const std::vector<HostBuffer>& buffers) {
  for (const HostBuffer& buffer : buffers) {
    if (buffer.bytes == 0) continue;
    MemoryRegion& region = regions_.emplace_back();
    region.begin = static_cast<const char*>(buffer.data);
    region.end = region.begin + buffer.bytes;
    region.name = buffer.name;
    region.writable = buffer.access == BufferAccess::kReadWrite;
    if (region.writable) region.owners = std::make_unique<BlockOwners>(buffer.bytes);
  }
  buffer_count_ = std::ssize(regions_);
}

const MemoryRegion* MemoryMap::find(const void* address, long long bytes) const {
  for (const MemoryRegion& region : regions_) {
    if (region.contains(static_cast<const char*>(address), bytes)) return &region;
  }
  return nullptr;
}

std::string MemoryMap::describe(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  const MemoryRegion* nearest = nullptr;
  long long distance = 0;
  for (const MemoryRegion& region : regions_) {
    const long long away = at < region.begin ? region.begin - at : at - region.end + 1;
    if (nearest == nullptr || away < distance) nearest = &region, distance = away;
  }
  constexpr long long kNear = 1 << 20;
  if (at == nullptr || nearest == nullptr || distance > kNear) {
    return fmt::format("address {}", address);
  }
  if (at < nearest->begin) return fmt::format("{} bytes before {}", distance, nearest->name);
  if (at < nearest->end) {
    return fmt::format("offset {} of the {} bytes of {}, beyond its end", at - nearest->begin,
                       nearest->end - nearest->begin, nearest->name);
  }
  return fmt::format("{} bytes past the end of {}", at - nearest->end, nearest->name);
}

void MemoryMap::add_image(const void* address_within) {
  ImageSearch search{static_cast<const char*>(address_within), &regions_};
  dl_iterate_phdr(visit_image, &search);
}

std::vector<BufferTraffic> MemoryMap::traffic() const {
  std::vector<BufferTraffic> traffic;
  const auto end = regions_.begin() + buffer_count_;
  std::for_each(regions_.begin(), end, [&](const MemoryRegion& region) {
    traffic.push_back({region.name, *region.read, *region.written});
  });
  return traffic;
}

}  // namespace heddle
