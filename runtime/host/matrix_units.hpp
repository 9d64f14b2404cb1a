#pragma once
// Asynchronous matrix products (wgmma) of a block: what each warp has issued, committed and waited
// for, and which registers and which shared memory they hold meanwhile.

#include <array>
#include <deque>
#include <vector>

#include "runtime/host/access_check.hpp"
#include "runtime/host/landing.hpp"
#include "runtime/host/matrix.hpp"
#include "runtime/host/random.hpp"

namespace heddle {

class MatrixUnits {
 public:
  MatrixUnits(AccessCheck& check, HostRandom& random, Landing landing)
      : check_(check), random_(random), landing_(landing) {}

  void begin_block(int warps);

  /// The calls of a warp's lanes, and where they are made.
  struct Issue {
    int warp = 0;
    const WarpCalls& lanes;
    const void* where = nullptr;
  };
  void fence(const Issue& issue);
  /// False where an operand is not in shared memory.
  bool multiply(const Issue& issue);
  void commit(const Issue& issue);
  void wait(const Issue& issue);

  /// When all threads have ended.
  void report_leftovers();

 private:
  /// Registers of one lane that a product reads or writes. Meanwhile they hold a pattern, and what
  /// they will hold is here.
  struct Held {
    unsigned* first = nullptr;
    std::vector<unsigned> values;
    long long product = 0;  ///< the last one that holds them
    const void* where = nullptr;
  };
  /// Registers as they were when a fence or a wait named them.
  struct Settled {
    const unsigned* first = nullptr;
    std::vector<unsigned> values;
  };
  struct Lane {
    std::vector<Held> held;
    std::vector<Settled> settled;
  };
  struct Product {
    host::MatrixProduct shape;
    std::array<unsigned*, 32> accumulators{};  ///< by lane
    std::vector<std::array<unsigned, 4>> a;    ///< by lane; empty: in shared memory
    bool done = false;
  };
  struct Warp {
    std::vector<Lane> lanes;
    bool fenced = false;
    AccessCheck::ReadingUnit* unit = nullptr;
    std::vector<Product> open;
    std::deque<std::vector<Product>> groups;
    std::deque<std::pair<Clock, long long>> ends;  ///< of each group: last stamp, last product
    long long issued = 0;
    long long finished = 0;
  };

  Held& hold(const Issue& issue, int lane, unsigned* first, int count, bool reads);
  void check_settled(const Issue& issue, int lane, const unsigned* first, int count);
  bool check_operand(const Issue& issue, const std::vector<unsigned>& chunks);
  void evaluate(int warp, Product& product);
  void evaluate_all(int warp);
  void release(const Issue& issue, int lane, long long finished);
  void report(const Issue& issue, int lane, std::string text, const void* other = nullptr);
  static void settle(Lane& lane, const unsigned* first, std::vector<unsigned> values);

  AccessCheck& check_;
  HostRandom& random_;
  Landing landing_;
  std::vector<Warp> warps_;
};

}  // namespace heddle
