#pragma once
// Which of the rows that were read answers a question. Pure: no file, no SQL.

#include <functional>
#include <optional>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

enum class Layer { kUser, kShipped };

/// One row with its place in time: of two rows of the same second, the later one is newer.
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

/// The first answer of that kind that the judge takes, best first, among rows of one variant in the
/// order they were recorded.
std::optional<Lookup> best_answer(const std::vector<RankedRow>& rows, const Question& question,
                                  const Judge& judge);

/// Best row per (variant, bucket, device): measured ones first, predicted where there is none.
std::vector<Measurement> best_rows(const std::vector<Measurement>& rows);

/// A total order of rows by what they are about, then by age: for lists and exports.
bool listed_before(const Measurement& left, const Measurement& right);

}  // namespace heddle
