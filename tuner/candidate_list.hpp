#pragma once

#include "tuner/tuner.hpp"

namespace heddle {

/// What one problem's tuning may try.
struct CandidateList {
  std::vector<Candidate> all;       ///< ids are positions; bad ones last
  int legal = 0;                    ///< before limit and shard
  std::vector<std::size_t> seeds;   ///< to be tried first; the default, if it is there, is at front
  std::optional<std::size_t> base;  ///< the place of the default of the families that are wanted
};

/// The default config, or, where its family is not wanted, that of the first wanted one that has
/// one: what the others are relative to is the same on every run. Empty = every family is wanted;
/// nothing where none of the wanted has one.
std::optional<KernelConfig> base_config(const Problem& problem, const DeviceLimits& limits,
                                        const std::vector<Family>& families);

/// Throws kNoLegalConfig. `near` are configs that did well on other sizes or elsewhere, best first.
CandidateList list_candidates(const Problem& problem, const DeviceLimits& limits,
                              const TuneOptions& options, const std::vector<KernelConfig>& near);

/// Positions of those of the same family that differ from this one in one knob.
std::vector<std::size_t> neighbours_of(const CandidateList& list, std::size_t position);

}  // namespace heddle
