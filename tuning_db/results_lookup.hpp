#pragma once
// Which of the rows that were read answers a question. Pure: no file, no SQL.

#include <functional>
#include <optional>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

enum class Layer { kUser, kShipped };

struct RankedRow {
  const Measurement* row = nullptr;
  Layer layer = Layer::kUser;
};

struct Question {
  SizeBucket bucket;
  DeviceClass device;
  Match match = Match::kExact;  ///< the kind of answer looked for
};

using Judge = std::function<Verdict(const Lookup&)>;

/// The first answer of that kind that the judge takes, best first, among rows of one variant. Their
/// order does not matter, so that it is the same in a database and in what it was merged into.
std::optional<Lookup> best_answer(const std::vector<RankedRow>& rows, const Question& question,
                                  const Judge& judge);

/// Best row per (variant, bucket, device): measured ones first, predicted where there is none.
std::vector<Measurement> best_rows(const std::vector<Measurement>& rows);

/// How far apart, in doublings: of each field of the buckets; of the SM counts.
double size_distance(const SizeBucket& left, const SizeBucket& right);
double device_distance(const DeviceClass& left, const DeviceClass& right);

/// Whether it has the later time; within one second, the later place in its tuning, else the later
/// place in the total order (a failure comes after a success).
bool is_newer(const Measurement& left, const Measurement& right);

/// A total order of rows by what they are about, then by age: for lists and exports.
bool listed_before(const Measurement& left, const Measurement& right);

}  // namespace heddle
