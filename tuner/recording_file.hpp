#pragma once
// Recordings as text, lean enough for a repository: what all configs of a problem share is said
// once, then a line for each config.
//
//   # what people read
//   heddle_recordings 1
//   problem head_dim=128 | heads=16,seqlen_q=512,seqlen_kv=512       variant | sizes
//   device capability_major=9,sm_count=132,… | NVIDIA H200
//   made heddle 0.1.0, …
//   legal 776
//   common family=fa3
//   knobs tile_m tile_n warps …
//   128 128 8 … | 0.98123 | 145311 145887 …        relative | nanoseconds of the samples
//   128 176 8 … | failed | ptxas spills …

#include "tuner/replay.hpp"

namespace heddle {

/// The same text for the same recordings.
std::string recordings_text(const std::vector<Recording>& recordings);

/// Throws kInvalidArgument with file, line and what is wrong there.
std::vector<Recording> parse_recordings(const std::string& text, const std::string& file_name);

}  // namespace heddle
