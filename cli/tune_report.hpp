#pragma once

#include <string>
#include <vector>

#include "tuner/tuner.hpp"

namespace heddle {

/// What `heddle tune` prints: per problem how many configs were legal, compiled, checked, measured;
/// the winner, its time and TFLOP/s, against the default config.
std::string reports_table(const std::vector<TuneReport>& reports, const DeviceClass& device);
std::string reports_json(const std::vector<TuneReport>& reports);
/// "stored in FILE", or that it was not; empty where no file is in use, of which the store warned.
std::string where_stored(const ResultsStore& store);

}  // namespace heddle
