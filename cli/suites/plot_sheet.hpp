#pragma once
// What the drawings of a plot are made on: a sheet that fills downwards, its text and its marks.

#include <string>

#include "cli/suites/plot.hpp"

namespace heddle {

/// User units, which are pixels at full width. Narrow, so that a telephone shrinks text little.
constexpr double kSheetWidth = 660;
constexpr double kSheetMargin = 12;
constexpr double kTextLine = 18;
/// How wide a letter is at most, on average: of running text, of a word or two, of a bold word. A
/// reader's browser takes its own font; these are of a wide one.
constexpr double kLetterWidth = 7.9;
constexpr double kNameLetterWidth = 8.8;
constexpr double kBoldLetterWidth = 9.4;

/// Draws downwards and remembers how far it came.
class Sheet {
 public:
  void add(const std::string& shapes) { body_ += shapes; }
  double& y() { return y_; }
  /// In as many lines as it takes, from the left margin. `kind`: "title", "about", "note".
  void paragraph(const std::string& words, const char* kind);
  /// `label` is what a reader who hears the page is told.
  std::string svg(const std::string& label) const;

 private:
  std::string body_;
  double y_ = kSheetMargin;
};

/// Cut at blanks into lines of at most so many letters.
std::vector<std::string> wrapped(const std::string& words, std::size_t most);

/// "blue line others": the classes of a shape of that series.
std::string classes_of(const Series& series, const char* shape);

std::string text_at(double x, double y, const std::string& kind, const char* anchor,
                    const std::string& words);

/// The mark of the series' tint at a place; `title` is shown under the pointer.
std::string mark_at(double x, double y, const Series& series, const std::string& title = {});

std::string grid_line(double x1, double y1, double x2, double y2);

/// As a tick or beside a bar: three digits, but thousands as they are.
std::string plain_number(double value);
/// Lengths, which are powers of two: "16k".
std::string tick_number(double value);

}  // namespace heddle
