#pragma once
// cp.async of one thread: copies in groups, landing no later than the wait that asks for them.

#include <deque>
#include <vector>

#include "runtime/host/access_check.hpp"
#include "runtime/host/device/host_calls.cuh"
#include "runtime/host/landing.hpp"
#include "runtime/host/random.hpp"

namespace heddle {

/// What the copies need of the block they run in.
struct CopyContext {
  AccessCheck& check;
  HostRandom& random;
  Landing landing;
  int actor;
};

class CopyQueue {
 public:
  /// False where the copy would touch what is not the kernel's.
  bool start(const CopyContext& context, const host::CopyAsync& copy, const void* where);
  void commit();
  /// Until at most `pending` of the newest groups are unfinished.
  void wait(const CopyContext& context, int pending);
  /// Lands one unfinished copy, if there is one: the moment that Landing::kRandom picked.
  void land_one(HostRandom& random);
  void reset();

 private:
  struct Copy {
    host::CopyAsync what;
    const void* where;
    bool landed;
  };
  using Group = std::vector<Copy>;

  static void land(Copy& copy);

  Group open_;
  std::deque<Group> groups_;
};

}  // namespace heddle
