#pragma once
// Counts per owner (a family, or "shared" for headers of several) and rule.

#include <map>
#include <string>
#include <utility>

namespace heddle::mutation {

struct Counts {
  int mutants = 0;
  int stillborn = 0;    ///< did not compile
  int equivalent = 0;   ///< survived, and is listed as equivalent
  int known = 0;        ///< survived, and is listed as a survivor
  int survived = 0;     ///< survived, and is not listed
  int killed = 0;       ///< a check found it
  int crashed = 0;      ///< caught too: the kernel died
  int out_of_time = 0;  ///< caught too

  int caught() const { return killed + crashed + out_of_time; }

  void add(const Counts& other);
  /// Caught, in percent of those that could be: neither stillborn nor equivalent.
  double kill_rate() const;
};

class Table {
 public:
  using Rows = std::map<std::pair<std::string, std::string>, Counts>;

  Counts& of(const std::string& owner, const std::string& rule) { return rows_[{owner, rule}]; }
  Counts total() const;
  std::string text() const;
  /// One table by owner and one by rule.
  std::string markdown() const;

 private:
  Rows rows_;
};

}  // namespace heddle::mutation
