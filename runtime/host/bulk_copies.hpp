#pragma once
// Copies of boxes and runs under way: loads land one by one and count on their barrier, stores in
// groups of the thread that started them.

#include <deque>
#include <map>
#include <vector>

#include "runtime/host/access_check.hpp"
#include "runtime/host/device/host_calls.cuh"
#include "runtime/host/landing.hpp"
#include "runtime/host/mbarriers.hpp"
#include "runtime/host/random.hpp"
#include "runtime/host/tensor_copy.hpp"

namespace heddle {

class BulkCopies {
 public:
  BulkCopies(AccessCheck& check, Mbarriers& barriers, HostRandom& random, Landing landing)
      : check_(check), barriers_(barriers), random_(random), landing_(landing) {}

  void begin_block();

  /// False where the copy would touch what is not the kernel's.
  bool start(const host::BulkCopy& copy, int lane, const void* where);
  void commit(int lane);
  /// Until at most `pending` of the lane's newest groups of stores are unfinished.
  void wait(int lane, int pending);

  /// Lands one load, if one is under way.
  bool land_one();
  /// When all threads have ended: stores that nobody waited for.
  void report_leftovers();

 private:
  struct Load {
    std::vector<CopyPiece> pieces;
    Mbarrier* barrier;
    int phase;
    int bytes;
  };
  struct Store {
    std::vector<CopyPiece> pieces;
    const void* where;
    bool done;
  };
  struct Group {
    std::vector<Store> stores;
    Clock stamp = 0;
  };
  /// A thread that stores.
  struct Stores {
    AccessCheck::ReadingUnit* unit = nullptr;
    std::vector<Store> open;
    std::deque<Group> groups;
  };

  bool valid(const host::BulkCopy& copy, const Access& access);
  bool pieces_of(const host::BulkCopy& copy, const Access& access, std::vector<CopyPiece>& pieces);
  bool check_global(const std::vector<CopyPiece>& pieces, Access access);
  bool start_load(const host::BulkCopy& copy, std::vector<CopyPiece> pieces, const Access& access);
  void start_store(std::vector<CopyPiece> pieces, const Access& access);
  AsyncAccess async(const Access& access, int unit) const;
  bool at_once();
  void land(const Load& load);
  void land(Store& store);
  unsigned char* shared(const CopyPiece& piece) const {
    return check_.shared(piece.shared - kSharedBase);
  }

  AccessCheck& check_;
  Mbarriers& barriers_;
  HostRandom& random_;
  Landing landing_;
  std::vector<Load> loads_;
  std::map<int, Stores> stores_;  ///< by lane
};

}  // namespace heddle
