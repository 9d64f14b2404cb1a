#pragma once
// What tuner and worker tell each other, as JSON. Structs with a field list go as their canonical
// texts.

#include <nlohmann/json.hpp>

#include "generator/error.hpp"
#include "tuner/candidate_runner.hpp"

namespace heddle {

nlohmann::json to_message(const DeviceLimits& limits);
nlohmann::json to_message(const Problem& problem);
nlohmann::json to_message(const RunnerInputs& inputs);
nlohmann::json to_message(const ConfigKernels& kernels);
nlohmann::json to_message(const Contestant& contestant);
nlohmann::json to_message(const CheckOutcome& outcome);
nlohmann::json to_message(const RaceRound& round);
nlohmann::json to_message(const RaceOutcome& outcome);
nlohmann::json to_message(const Error& error);

/// Throw where the message is not of that kind.
DeviceLimits limits_of(const nlohmann::json& message);
Problem problem_of(const nlohmann::json& message);
RunnerInputs inputs_of(const nlohmann::json& message);
ConfigKernels kernels_of(const nlohmann::json& message);
Contestant contestant_of(const nlohmann::json& message);
CheckOutcome check_outcome_of(const nlohmann::json& message);
RaceRound round_of(const nlohmann::json& message);
RaceOutcome race_outcome_of(const nlohmann::json& message);
Error error_of(const nlohmann::json& message);

}  // namespace heddle
