#include "tuning_db/compile_claim.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <thread>

namespace heddle {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(5);
/// Of the key, what an offset into a file can be.
constexpr int kOffsetBits = 62;

/// Not the cache itself: closing a second descriptor of it would drop SQLite's locks. -1 where it
/// cannot be opened.
int open_claims_of(const std::string& cache_path) noexcept {
  try {
    return ::open((cache_path + "-claims").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  } catch (const std::exception&) {  // no memory for a path
    return -1;
  }
}

}  // namespace

CompileClaim::CompileClaim(const std::string& cache_path, const Hash128& key,
                           std::chrono::milliseconds patience) noexcept {
#ifdef F_OFD_SETLK
  if (cache_path.empty()) return;
  descriptor_ = open_claims_of(cache_path);
  if (descriptor_ < 0) return;
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(key.low >> (64 - kOffsetBits));
  range.l_len = 1;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::fcntl(descriptor_, F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES) return;
    had_to_wait_ = true;
    if (std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(kBetweenLooks);
  }
#else
  (void)cache_path, (void)key, (void)patience;
#endif
}

CompileClaim::~CompileClaim() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace heddle
