#include "cli/explain/timeline_text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr int kColumns = 96;

struct Letter {
  Activity activity;
  char letter;
};
constexpr Letter kLetters[] = {{Activity::kLoadKey, '-'},  {Activity::kLoadValue, '-'},
                               {Activity::kHoldKey, '='},  {Activity::kHoldValue, '='},
                               {Activity::kQueryKey, 'Q'}, {Activity::kSoftmax, 's'},
                               {Activity::kExchange, 'x'}, {Activity::kProbabilityValue, 'P'},
                               {Activity::kStore, 'o'},    {Activity::kWait, '.'}};

char letter_of(Activity activity) {
  for (const Letter& each : kLetters) {
    if (each.activity == activity) return each.letter;
  }
  return '?';
}

/// What fills most of a column shows in it; the number of the key tile stands where its loads and
/// products begin, if there is room.
std::string row_of(const Lane& lane, double cycles_per_column) {
  std::string row(kColumns, ' ');
  std::vector<double> most(kColumns, 0);
  for (const Span& span : lane.spans) {
    const int first = static_cast<int>(span.begin / cycles_per_column);
    const int last = static_cast<int>(std::ceil(span.end / cycles_per_column));
    for (int column = first; column < std::min(last, kColumns); ++column) {
      const double covered = std::min(span.end, (column + 1) * cycles_per_column) -
                             std::max(span.begin, column * cycles_per_column);
      auto& best = most[static_cast<std::size_t>(column)];
      if (covered <= best) continue;
      best = covered;
      row[static_cast<std::size_t>(column)] = letter_of(span.activity);
    }
    const bool numbered = span.activity != Activity::kWait && span.activity != Activity::kHoldKey &&
                          span.activity != Activity::kHoldValue;
    const int middle = first + 1;
    if (numbered && last - first >= 3 && middle < kColumns && span.step < 10) {
      row[static_cast<std::size_t>(middle)] = static_cast<char>('0' + span.step);
      most[static_cast<std::size_t>(middle)] = cycles_per_column;
    }
  }
  row.erase(row.find_last_not_of(' ') + 1);
  return row;
}

std::string legend(const Timeline& timeline) {
  std::set<Activity> used;
  for (const Lane& lane : timeline.lanes) {
    for (const Span& span : lane.spans) used.insert(span.activity);
  }
  std::string text;
  std::set<std::string_view> said;
  for (const Activity activity : used) {
    if (!said.insert(enum_name(activity)).second) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", letter_of(activity), enum_name(activity));
  }
  return text + "; digits count key tiles";
}

/// "0        500       1000": every 20 columns.
std::string axis(double cycles_per_column) {
  std::string text;
  for (int column = 0; column < kColumns; column += 20) {
    text.resize(static_cast<std::size_t>(column), ' ');
    text += fmt::format("{:.0f}", column * cycles_per_column);
  }
  return text;
}

}  // namespace

std::string timeline_text(const Timeline& timeline) {
  if (timeline.lanes.empty() || timeline.end <= 0) return {};
  const double cycles_per_column = timeline.end / kColumns;
  std::size_t widest = std::string("cycles").size();
  for (const Lane& lane : timeline.lanes) widest = std::max(widest, lane.name.size());
  std::string text = fmt::format("{:<{}}  {}\n", "cycles", widest, axis(cycles_per_column));
  for (const Lane& lane : timeline.lanes) {
    std::string line =
        fmt::format("{:<{}} |{}", lane.name, widest, row_of(lane, cycles_per_column));
    text += line + '\n';
  }
  return text + legend(timeline) + '\n';
}

}  // namespace heddle
