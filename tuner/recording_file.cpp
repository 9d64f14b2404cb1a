#include "tuner/recording_file.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr std::string_view kFormat = "heddle_recordings 1";
constexpr std::string_view kSeparator = " | ";
constexpr std::size_t kMostFailureText = 80;

/// One line, and no longer than it has to be.
std::string short_text(const std::string& failure) {
  std::string text = failure.substr(0, failure.find('\n')).substr(0, kMostFailureText);
  std::replace(text.begin(), text.end(), '|', '/');
  return text.empty() ? "failed" : text;
}

std::string knob_text(const KernelConfig& config, std::string_view name) {
  std::string text;
  for_each_field(config, [&](const auto& knob, const auto& value) {
    if (knob.name != name) return;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) {
      text = value ? "1" : "0";
    } else {
      text = value_text(value);
    }
  });
  return text;
}

/// Knobs that are not the same in all entries; `common` gets the others.
std::vector<std::string> differing_knobs(const Recording& recording, KernelConfig& common) {
  std::vector<std::string> names;
  const KernelConfig& first = recording.entries.front().config;
  for_each_field(common, [&](const auto& knob, auto& value) {
    const auto member = knob.member;
    const bool same = std::all_of(
        recording.entries.begin(), recording.entries.end(),
        [&](const Recording::Entry& entry) { return entry.config.*member == first.*member; });
    if (same) {
      value = first.*member;
    } else {
      names.emplace_back(knob.name);
    }
  });
  return names;
}

std::string entry_line(const Recording::Entry& entry, const std::vector<std::string>& knobs) {
  std::string line;
  for (const std::string& name : knobs) line += knob_text(entry.config, name) + ' ';
  if (!line.empty()) line.pop_back();
  if (entry.seconds.empty()) return line + " | failed | " + short_text(entry.failure);
  line += fmt::format(" | {:.5f} |", entry.relative);
  for (const double sample : entry.seconds) line += fmt::format(" {:.0f}", sample * 1e9);
  return line;
}

std::string section_of(const Recording& recording) {
  KernelConfig common;
  const auto knobs = differing_knobs(recording, common);
  const std::string shared = canonical_text(common);
  std::string text = fmt::format(
      "problem {} | {}\ndevice {} | {}\nmade {}\nlegal {}\ncommon{}\nknobs {}\n",
      canonical_text(recording.problem.variant), canonical_text(recording.problem.sizes),
      canonical_text(recording.device), recording.device.name, recording.made, recording.legal,
      shared.empty() ? "" : " " + shared, fmt::join(knobs, " "));
  std::vector<std::string> lines;
  for (const auto& entry : recording.entries) lines.push_back(entry_line(entry, knobs));
  std::sort(lines.begin(), lines.end());  // whatever the cost model of the day says
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// "a | b | c" in at most `count` pieces.
std::vector<std::string> pieces_of(const std::string& text, std::size_t count) {
  std::vector<std::string> pieces;
  std::size_t start = 0;
  while (pieces.size() + 1 < count) {
    const std::size_t end = text.find(kSeparator, start);
    if (end == std::string::npos) break;
    pieces.push_back(text.substr(start, end - start));
    start = end + kSeparator.size();
  }
  pieces.push_back(text.substr(start));
  return pieces;
}

/// Says what is wrong with a line; Reader says with which.
[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, "recording", reason);
}

class Reader {
 public:
  explicit Reader(const std::string& file_name) : file_name_(file_name) {}

  std::vector<Recording> read(const std::string& text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      ++line_number_;
      if (line.empty() || line.front() == '#') continue;
      try {
        take(line);
      } catch (const Error& error) {
        fail(error.what());
      }
    }
    if (!has_format_) fail("is no recording: '" + std::string(kFormat) + "' is missing");
    if (text.back() != '\n') fail("ends within a line: a part is missing; copy the file anew");
    try {
      end_problem();
    } catch (const Error& error) {
      fail(error.what());
    }
    for (Recording& recording : recordings_) recording.finish();
    return std::move(recordings_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    refuse(fmt::format("{}:{}: {}", file_name_, line_number_, reason));
  }

  void take(const std::string& line) {
    if (!has_format_) {
      if (line != kFormat) {
        refuse("begins with '" + line + "', and this heddle reads '" + std::string(kFormat) +
               "'; write it again with `heddle db record`");
      }
      has_format_ = true;
      return;
    }
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string key = line.substr(0, blank);
    const std::string rest = blank < line.size() ? line.substr(blank + 1) : "";
    if (key == "problem") return begin(rest);
    if (recordings_.empty()) refuse("'" + key + "' stands before the first 'problem'");
    Recording& recording = recordings_.back();
    if (key == "device") {
      const auto pieces = pieces_of(rest, 2);
      recording.device = parse_canonical<DeviceClass>(pieces.front());
      if (pieces.size() > 1) recording.device.name = pieces[1];
    } else if (key == "made") {
      recording.made = rest;
    } else if (key == "legal") {
      if (!parse_value(rest, recording.legal) || recording.legal < 0) {
        refuse("legal: '" + rest + "' is not a number of configs; 0 = not known");
      }
    } else if (key == "common") {
      common_ = parse_canonical<KernelConfig>(rest);
    } else if (key == "knobs") {
      knobs_ = words_of(rest);
    } else {
      // Without it every prediction is another device's.
      if (recording.device.sm_count == 0) refuse("a config stands before its problem's 'device'");
      recording.entries.push_back(entry_of(line));
    }
  }

  /// Fewer than there were would flatter every search.
  void end_problem() {
    if (recordings_.empty()) return;
    const Recording& recording = recordings_.back();
    const auto count = static_cast<int>(recording.entries.size());
    if (recording.legal != 0 && recording.legal != count) {
      refuse(
          fmt::format("a problem ends here with {} configs after 'legal {}': a part is missing "
                      "or too much; copy the file anew",
                      count, recording.legal));
    }
    std::set<std::string> configs;
    for (const Recording::Entry& entry : recording.entries) {
      const std::string config = canonical_text(entry.config);
      if (!configs.insert(config).second) {
        refuse("a problem ends here that has a config twice: " + config);
      }
    }
  }

  void begin(const std::string& text) {
    end_problem();
    const auto pieces = pieces_of(text, 2);
    if (pieces.size() < 2) refuse("problem: wants 'variant | sizes'");
    recordings_.emplace_back();
    recordings_.back().problem = {parse_canonical<Variant>(pieces[0]),
                                  parse_canonical<Sizes>(pieces[1])};
    common_ = {};
    knobs_.clear();
  }

  Recording::Entry entry_of(const std::string& line) const {
    const auto pieces = pieces_of(line, 3);
    const auto values = words_of(pieces.front());
    if (pieces.size() != 3 || values.size() != knobs_.size()) {
      refuse(fmt::format("wants {} knobs | relative | samples, as the line 'knobs' says",
                         knobs_.size()));
    }
    Recording::Entry entry;
    entry.config = common_;
    for (std::size_t i = 0; i < knobs_.size(); ++i) set_field(entry.config, knobs_[i], values[i]);
    if (pieces[1] == "failed") {
      entry.failure = pieces[2];
      return entry;
    }
    if (!parse_value(pieces[1], entry.relative) || entry.relative < 0) {
      refuse("relative: '" + pieces[1] +
             "' is neither a time over the default's (0 = not known) nor 'failed'");
    }
    for (const std::string& word : words_of(pieces[2])) {
      double nanoseconds = 0;
      if (!parse_value(word, nanoseconds) || !(nanoseconds > 0)) {
        refuse("samples: '" + word + "' is not a positive number of nanoseconds");
      }
      entry.seconds.push_back(nanoseconds * 1e-9);
    }
    if (entry.seconds.empty()) refuse("samples: there is none");
    return entry;
  }

  std::string file_name_;
  int line_number_ = 0;
  bool has_format_ = false;
  std::vector<Recording> recordings_;
  KernelConfig common_;
  std::vector<std::string> knobs_;
};

}  // namespace

std::string recordings_text(const std::vector<Recording>& recordings) {
  std::string text =
      "# Every legal configuration of each problem, measured: relative to the default, samples in "
      "ns.\n# Written by `heddle db record`, read by `heddle db regret`.\n";
  text += std::string(kFormat) + '\n';
  for (const Recording& recording : recordings) text += '\n' + section_of(recording);
  return text;
}

std::vector<Recording> parse_recordings(const std::string& text, const std::string& file_name) {
  return Reader(file_name).read(text);
}

}  // namespace heddle
