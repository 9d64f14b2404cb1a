#pragma once

#include <string>
#include <vector>

namespace heddle {

/// Colours and redrawn lines only on a terminal, and never when $NO_COLOR is set.
struct TerminalStyle {
  bool interactive = false;  ///< standard error is a terminal: a progress line may be redrawn
  bool color = false;        ///< standard output may carry colours
};
/// Reads the environment, once.
TerminalStyle detect_terminal();

/// One redrawn line on a terminal; on anything else a line at the start and end of each stage.
class ProgressLine {
 public:
  explicit ProgressLine(TerminalStyle style) : style_(style) {}
  ~ProgressLine() { clear(); }
  void update(const std::string& label, int done, int total);
  void clear();

 private:
  TerminalStyle style_;
  std::string label_;
  bool drawn_ = false;
};

/// Columns padded to their widest cell; numbers (cells that begin with a digit) to the right.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

/// "512 B", "48.0 KB", "8.79 GB": powers of ten, as bandwidths have them.
std::string format_bytes(double bytes);

/// "1.25 ms", "830 us".
std::string format_seconds(double seconds);

}  // namespace heddle
