#pragma once

#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

/// One static page about these rows: no script, nothing from the network.
std::string report_page(const std::vector<Measurement>& rows);

}  // namespace heddle
