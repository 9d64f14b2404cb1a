#include "tuning_db/results_lookup.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace heddle {
namespace {

/// Layer, device and size bucket, the two as canonical texts.
using PlaceKey = std::tuple<Layer, std::string, std::string>;

/// The newest valid evidence of one config in one place.
struct Contender {
  const Measurement* row;
  Layer layer;
  std::size_t age_rank;  ///< position among the rows: later = newer within one second

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

bool is_newer(const Contender& left, const Contender& right) {
  return std::tie(left.row->provenance.when, left.age_rank) >
         std::tie(right.row->provenance.when, right.age_rank);
}

using Acceptance = std::function<bool(const Measurement&)>;

std::vector<Contender> contenders(const std::vector<RankedRow>& rows, Evidence wanted,
                                  const Acceptance& accept) {
  std::map<std::pair<PlaceKey, std::string>, Contender> newest;
  std::vector<Contender> failures;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Contender contender{rows[i].row, rows[i].layer, i};
    const Measurement& row = *contender.row;
    if (row.evidence == Evidence::kFailed || check_failed(row)) failures.push_back(contender);
    if (!is_valid(row, wanted) || !accept(row)) continue;
    const auto [known, inserted] =
        newest.try_emplace({contender.place(), canonical_text(row.config)}, contender);
    if (!inserted && is_newer(contender, known->second)) known->second = contender;
  }
  std::vector<Contender> standing;
  for (const auto& [key, contender] : newest) {
    const bool condemned = std::any_of(failures.begin(), failures.end(), [&](const auto& failure) {
      return speaks_against(*failure.row, *contender.row) && is_newer(failure, contender);
    });
    if (!condemned) standing.push_back(contender);
  }
  return standing;
}

double doublings(double left, double right) {
  return std::abs(std::log2(std::max(left, 1.0)) - std::log2(std::max(right, 1.0)));
}

double bucket_distance(const SizeBucket& left, const SizeBucket& right) {
  double distance = 0;
  for_each_field(left, [&](const auto& entry, const auto& value) {
    distance += doublings(value, right.*(entry.member));
  });
  return distance;
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

/// Keeps the faster of two rows for one place.
void keep_faster(std::map<std::string, const Measurement*>& best, const Measurement& row) {
  const auto [known, inserted] = best.try_emplace(canonical_text(row.bucket), &row);
  if (!inserted && row.median_seconds < known->second->median_seconds) known->second = &row;
}

}  // namespace

std::optional<Lookup> best_answer(const std::vector<RankedRow>& rows, const Question& question,
                                  const Judge& judge) {
  const auto wanted =
      question.match == Match::kPredicted ? Evidence::kPredicted : Evidence::kMeasured;
  auto standing = contenders(rows, wanted, acceptance(question));
  const auto rank = [&](const Contender& contender) {
    return std::tuple(doublings(contender.row->device.sm_count, question.device.sm_count),
                      bucket_distance(contender.row->bucket, question.bucket), contender.layer,
                      contender.row->median_seconds);
  };
  // Equal ranks keep the order of contenders(), which is that of the canonical texts.
  std::stable_sort(standing.begin(), standing.end(),
                   [&](const auto& left, const auto& right) { return rank(left) < rank(right); });
  std::set<PlaceKey> left;
  for (const Contender& contender : standing) {
    if (left.count(contender.place()) > 0) continue;
    const double distance = std::get<0>(rank(contender)) + std::get<1>(rank(contender));
    const Lookup answer{contender.row->config, question.match, contender.row->median_seconds,
                        std::pow(1 + kRegretPerDoubling, distance), contender.row->bucket};
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
    std::map<std::string, const Measurement*> best;
    for (const auto& measured : contenders(group, Evidence::kMeasured, everywhere)) {
      keep_faster(best, *measured.row);
    }
    std::map<std::string, const Measurement*> predicted;
    for (const auto& guess : contenders(group, Evidence::kPredicted, everywhere)) {
      keep_faster(predicted, *guess.row);
    }
    best.merge(predicted);  // keeps what is measured
    for (const auto& [bucket, row] : best) winners.push_back(*row);
  }
  std::sort(winners.begin(), winners.end(), listed_before);
  return winners;
}

}  // namespace heddle
