#include "tuning_db/results_lookup.hpp"

#include <tuple>

namespace heddle {
namespace {

/// -1, 0 or 1 by the fields in their order: numbers as numbers, so that 8 comes before 16.
template <class Struct>
int compare(const Struct& left, const Struct& right) {
  int order = 0;
  for_each_field(left, [&](const auto& entry, const auto& value) {
    if (order != 0) return;
    const auto& other = right.*(entry.member);
    if (value < other) order = -1;
    if (other < value) order = 1;
  });
  return order;
}

int compare_checks(const std::optional<CheckRecord>& left,
                   const std::optional<CheckRecord>& right) {
  if (left && right) return compare(*left, *right);
  return static_cast<int>(left.has_value()) - static_cast<int>(right.has_value());
}

}  // namespace

bool is_newer(const Measurement& left, const Measurement& right) {
  const auto time = [](const Measurement& row) {
    return std::tie(row.provenance.when, row.elapsed_seconds);
  };
  if (time(left) != time(right)) return time(left) > time(right);
  return listed_before(right, left);
}

bool listed_before(const Measurement& left, const Measurement& right) {
  int order = compare(left.variant, right.variant);
  if (order == 0) order = compare(left.device, right.device);
  if (order == 0) order = compare(left.bucket, right.bucket);
  if (order == 0) order = compare(left.config, right.config);
  if (order == 0) order = left.provenance.when.compare(right.provenance.when);
  if (order == 0) order = compare(left, right);
  if (order == 0) order = compare(left.sizes, right.sizes);
  if (order == 0) order = compare(left.provenance, right.provenance);
  if (order == 0) order = compare_checks(left.check, right.check);
  if (order == 0) order = left.device.name.compare(right.device.name);
  return order < 0;
}

}  // namespace heddle
