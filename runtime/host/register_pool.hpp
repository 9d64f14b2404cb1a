#pragma once
// setmaxnreg: registers that a block's warpgroups hand to each other.

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What ptxas launches a kernel with that hands registers on, one block to a multiprocessor.
constexpr int launch_registers(int threads) {
  constexpr int kFile = 65536, kStep = 8, kMost = 255;
  const int share = kFile / threads / kStep * kStep;
  return share < kMost ? share : kMost;
}
static_assert(launch_registers(384) == 168 && launch_registers(640) == 96, "as measured");

class RegisterPool {
 public:
  /// `per_thread`: registers at launch; 0 = not known, nothing is checked.
  void begin_block(int warpgroups, int per_thread);

  /// What is wrong, if something is.
  std::optional<std::string> decrease(int warpgroup, int registers);
  std::optional<std::string> check_increase(int warpgroup, int registers) const;
  /// False as long as the pool has too few.
  bool increase(int warpgroup, int registers);
  /// "the pool holds …"
  std::string describe(int warpgroup, int registers) const;

 private:
  int per_thread_ = 0;
  int free_ = 0;           ///< for each thread of a warpgroup
  std::vector<int> held_;  ///< by warpgroup, for each thread
};

}  // namespace heddle
