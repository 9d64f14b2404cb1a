#pragma once
// What it has cost, where that was measured, to take another size's or device's winner. Pure: no
// file.

#include <optional>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

/// A winner of one place that is to serve another.
struct Transfer {
  SizeBucket from_bucket, to_bucket;
  DeviceClass from_device, to_device;
};

/// Times of transferred winners over those of the places' own winners, 1 = as fast.
struct TransferRegret {
  double mean = 1;  ///< geometric
  double worst = 1;
  int samples = 0;
};

/// Of transfers like this one among rows of one variant: between sizes of one device, or between
/// devices of the same two capabilities, over about as many doublings. Only places count whose
/// tuning came to its end and measured many configs beside the default; what a transferred winner
/// takes there was measured there. nullopt = there is no such place.
std::optional<TransferRegret> transfer_regret(const std::vector<Measurement>& rows,
                                              const Transfer& transfer);

}  // namespace heddle
