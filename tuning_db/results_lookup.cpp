#include "tuning_db/results_lookup.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace heddle {
namespace {

/// Layer, device and size bucket, the two as canonical texts.
using PlaceKey = std::tuple<Layer, std::string, std::string>;

/// The newest valid evidence of one config in one place; what a tuning chose beside what was only
/// measured.
struct Contender {
  const Measurement* row;
  Layer layer;
  bool chosen = row->chosen;  ///< by a tuning that knew all that is known now

  PlaceKey place() const {
    return {layer, canonical_text(row->device), canonical_text(row->bucket)};
  }
};

bool is_valid(const Measurement& row, Evidence wanted) {
  if (row.evidence != wanted || !(row.median_seconds > 0)) return false;
  return wanted != Evidence::kMeasured || (row.check && row.check->passed);
}

bool check_failed(const Measurement& row) {
  return row.check && !row.check->passed;
}

/// Whether `failure` speaks against `success`, leaving age aside. Wrong results condemn the kernel
/// in every bucket; a time-out or lack of memory only where it happened.
bool speaks_against(const Measurement& failure, const Measurement& success) {
  if (failure.evidence != Evidence::kFailed && !check_failed(failure)) return false;
  return failure.config == success.config && failure.device.same_class(success.device) &&
         failure.provenance.source_hash == success.provenance.source_hash &&
         (check_failed(failure) || failure.bucket == success.bucket);
}

bool same_versions(const Provenance& left, const Provenance& right) {
  return left.heddle_version == right.heddle_version &&
         left.driver_version == right.driver_version && left.nvrtc_version == right.nvrtc_version;
}

/// What is so much faster goes into the last race of every tuning that looks at it: the choice was
/// made without it, by a search of some families or of a few candidates. Compared is what was
/// measured of the very same thing, in seconds and in clock cycles, since clocks differ.
bool outclasses(const Measurement& other, const Measurement& choice) {
  constexpr double kBeyondRaces = 1.1;
  const auto cycles = [](const Measurement& row) { return row.median_seconds * row.clock_mhz; };
  return other.median_seconds * kBeyondRaces < choice.median_seconds &&
         cycles(other) * kBeyondRaces <= cycles(choice) && other.warm == choice.warm &&
         other.tuning != choice.tuning && !(other.config == choice.config) &&
         other.device.same_class(choice.device) && fields_equal(other.sizes, choice.sizes) &&
         same_versions(other.provenance, choice.provenance);
}

void unseat_narrow_choices(std::vector<Contender>& standing) {
  for (Contender& contender : standing) {
    contender.chosen = contender.row->chosen &&
                       std::none_of(standing.begin(), standing.end(), [&](const auto& other) {
                         return outclasses(*other.row, *contender.row);
                       });
  }
}

using Acceptance = std::function<bool(const Measurement&)>;

std::vector<Contender> contenders(const std::vector<RankedRow>& rows, Evidence wanted,
                                  const Acceptance& accept) {
  std::map<std::tuple<PlaceKey, std::string, bool>, Contender> newest;
  std::vector<Contender> failures;
  for (const RankedRow& ranked : rows) {
    const Contender contender{ranked.row, ranked.layer};
    const Measurement& row = *contender.row;
    if (row.evidence == Evidence::kFailed || check_failed(row)) failures.push_back(contender);
    if (!is_valid(row, wanted) || !accept(row)) continue;
    const auto [known, inserted] =
        newest.try_emplace({contender.place(), canonical_text(row.config), row.chosen}, contender);
    if (!inserted && is_newer(row, *known->second.row)) known->second = contender;
  }
  std::vector<Contender> standing;
  for (const auto& [key, contender] : newest) {
    const bool condemned = std::any_of(failures.begin(), failures.end(), [&](const auto& failure) {
      return speaks_against(*failure.row, *contender.row) && is_newer(*failure.row, *contender.row);
    });
    if (!condemned) standing.push_back(contender);
  }
  unseat_narrow_choices(standing);
  return standing;
}

double doublings(double left, double right) {
  return std::abs(std::log2(std::max(left, 1.0)) - std::log2(std::max(right, 1.0)));
}

Acceptance acceptance(const Question& question) {
  const DeviceClass device = question.device;
  const SizeBucket bucket = question.bucket;
  switch (question.match) {
    case Match::kExact:
      return [=](const auto& row) { return row.device.same_class(device) && row.bucket == bucket; };
    case Match::kNearestSize:  // those of the very size have been looked at
      return
          [=](const auto& row) { return row.device.same_class(device) && !(row.bucket == bucket); };
    case Match::kOtherDevice:
      return [=](const auto& row) {
        return !row.device.same_class(device) &&
               row.device.capability_major == device.capability_major &&
               row.device.capability_minor == device.capability_minor;
      };
    default:
      return [=](const auto& row) { return row.device.same_class(device); };
  }
}

/// What a finished tuning chose, the last one first; then the fastest of what was measured.
bool is_better(const Contender& left, const Contender& right) {
  if (left.chosen != right.chosen) return left.chosen;
  if (left.chosen) return is_newer(*left.row, *right.row);
  return left.row->median_seconds < right.row->median_seconds;
}

/// As the command says that repeats it. Names that this heddle does not know say nothing to it.
std::vector<Family> families_of(const Provenance& origin) {
  constexpr std::string_view kFlag = " --families ";
  const std::size_t flag = origin.command.find(kFlag);
  if (flag == std::string::npos) return {};
  std::istringstream words(origin.command.substr(flag + kFlag.size()));
  std::string list;
  words >> list;
  std::vector<Family> families;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (const auto family = enum_value<Family>(name)) families.push_back(*family);
  }
  return families;
}

/// Those that somebody has looked at in this place; empty = all.
std::vector<Family> families_known(const Contender& contender,
                                   const std::vector<Contender>& standing) {
  auto families = families_of(contender.row->provenance);
  if (families.empty()) return families;
  for (const Contender& other : standing) {
    if (!(other.place() == contender.place())) continue;
    const auto more = families_of(other.row->provenance);
    if (more.empty()) return {};
    families.insert(families.end(), more.begin(), more.end());
  }
  return families;
}

/// Keeps the better of two rows for one place.
void keep_better(std::map<std::string, Contender>& best, const Contender& contender) {
  const auto [known, inserted] = best.try_emplace(canonical_text(contender.row->bucket), contender);
  if (!inserted && is_better(contender, known->second)) known->second = contender;
}

}  // namespace

double size_distance(const SizeBucket& left, const SizeBucket& right) {
  double distance = 0;
  for_each_field(left, [&](const auto& entry, const auto& value) {
    distance += doublings(value, right.*(entry.member));
  });
  return distance;
}

double device_distance(const DeviceClass& left, const DeviceClass& right) {
  return doublings(left.sm_count, right.sm_count);
}

std::optional<Lookup> best_answer(const std::vector<RankedRow>& rows, const Question& question,
                                  const Judge& judge) {
  const auto wanted =
      question.match == Match::kPredicted ? Evidence::kPredicted : Evidence::kMeasured;
  auto standing = contenders(rows, wanted, acceptance(question));
  const auto distance_of = [&](const Contender& contender) {
    return std::pair(device_distance(contender.row->device, question.device),
                     size_distance(contender.row->bucket, question.bucket));
  };
  // Equal ones keep the order of contenders(), which is that of the canonical texts.
  std::stable_sort(standing.begin(), standing.end(), [&](const auto& left, const auto& right) {
    const auto left_distance = distance_of(left), right_distance = distance_of(right);
    if (left_distance != right_distance) return left_distance < right_distance;
    if (left.chosen != right.chosen) return left.chosen;
    if (left.layer != right.layer) return left.layer < right.layer;
    return is_better(left, right);
  });
  std::set<PlaceKey> left;
  for (const Contender& contender : standing) {
    if (left.count(contender.place()) > 0) continue;
    const auto [device_distance, size_distance] = distance_of(contender);
    const double regret = std::pow(1 + kRegretPerDoubling, device_distance + size_distance);
    const bool partial = wanted == Evidence::kMeasured && !contender.chosen;
    const Lookup answer{contender.row->config,         question.match,
                        contender.row->median_seconds, regret,
                        contender.row->bucket,         partial,
                        contender.row->device,         families_known(contender, standing)};
    const Verdict verdict = judge(answer);
    if (verdict == Verdict::kTake) return answer;
    if (verdict == Verdict::kNextPlace) left.insert(contender.place());
  }
  return std::nullopt;
}

std::vector<Measurement> best_rows(const std::vector<Measurement>& rows) {
  // Per variant and device, because a failed check counts in all their buckets.
  std::map<std::pair<std::string, std::string>, std::vector<RankedRow>> groups;
  for (const Measurement& row : rows) {
    groups[{canonical_text(row.variant), canonical_text(row.device)}].push_back({&row});
  }
  std::vector<Measurement> winners;
  const auto everywhere = [](const Measurement&) { return true; };
  for (const auto& [place, group] : groups) {
    std::map<std::string, Contender> best;
    for (const auto& measured : contenders(group, Evidence::kMeasured, everywhere)) {
      keep_better(best, measured);
    }
    std::map<std::string, Contender> predicted;
    for (const auto& guess : contenders(group, Evidence::kPredicted, everywhere)) {
      keep_better(predicted, guess);
    }
    best.merge(predicted);  // keeps what is measured
    for (const auto& [bucket, winner] : best) winners.push_back(*winner.row);
  }
  std::sort(winners.begin(), winners.end(), listed_before);
  return winners;
}

}  // namespace heddle
