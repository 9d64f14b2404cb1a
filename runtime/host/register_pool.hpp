#pragma once
// setmaxnreg: registers that a block's warpgroups hand to each other.

#include <optional>
#include <string>
#include <vector>

namespace heddle {

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
