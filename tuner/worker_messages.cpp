#include "tuner/worker_messages.hpp"

namespace heddle {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceLimits, architecture, capability_major, capability_minor,
                                   sm_count, shared_bytes_per_block, shared_bytes_per_sm,
                                   registers_per_sm, threads_per_sm, blocks_per_sm, l2_bytes,
                                   clock_ghz, tensor_flops_per_clock_sm, hbm_bytes_per_second)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timing, median_seconds, spread_seconds, clock_mhz, seconds,
                                   clocks_mhz)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckRecord, passed, max_error, baseline_max_error, rms_error,
                                   baseline_rms_error, lse_error, sizes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Strides, batch, head, row)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunnerInputs, seed, warm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RaceRound, ids, warm_ups, samples)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RaceOutcome, timings, failures, broken)

namespace {

json bytes_message(const std::vector<char>& bytes) {
  return json::binary({bytes.begin(), bytes.end()});
}

std::vector<char> bytes_of(const json& message) {
  const auto& bytes = message.get_binary();
  return {bytes.begin(), bytes.end()};
}

json kernel_message(const CompiledKernel& kernel) {
  return {{"part", static_cast<int>(kernel.part)},
          {"entry", kernel.entry},
          {"cubin", bytes_message(kernel.cubin)},
          {"notes", canonical_text(kernel.notes)},
          {"from_cache", kernel.from_cache}};
}

CompiledKernel kernel_of(const json& message) {
  CompiledKernel kernel;
  kernel.part = static_cast<KernelPart>(message.at("part").get<int>());
  kernel.entry = message.at("entry");
  kernel.cubin = bytes_of(message.at("cubin"));
  kernel.notes = parse_canonical<CompileNotes>(message.at("notes").get<std::string>());
  kernel.from_cache = message.at("from_cache");
  return kernel;
}

}  // namespace

json to_message(const DeviceLimits& limits) {
  return limits;
}

DeviceLimits limits_of(const json& message) {
  return message;
}

/// Strides are no part of the canonical text.
json to_message(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return {{"variant", canonical_text(problem.variant)},
          {"sizes", canonical_text(sizes)},
          {"strides",
           {sizes.query_strides, sizes.key_strides, sizes.value_strides, sizes.output_strides}}};
}

Problem problem_of(const json& message) {
  Problem problem{parse_canonical<Variant>(message.at("variant").get<std::string>()),
                  parse_canonical<Sizes>(message.at("sizes").get<std::string>())};
  const json& strides = message.at("strides");
  problem.sizes.query_strides = strides.at(0);
  problem.sizes.key_strides = strides.at(1);
  problem.sizes.value_strides = strides.at(2);
  problem.sizes.output_strides = strides.at(3);
  return problem;
}

json to_message(const ConfigKernels& kernels) {
  json message{{"source_hash", kernels.source_hash},
               {"extra_shared_bytes", kernels.extra_shared_bytes},
               {"parts", json::array()}};
  for (const auto& part : kernels.parts) message["parts"].push_back(kernel_message(*part));
  if (kernels.rejection) {
    message["rejection"] = {{"field", kernels.rejection->field},
                            {"reason", kernels.rejection->reason}};
  }
  return message;
}

ConfigKernels kernels_of(const json& message) {
  ConfigKernels kernels;
  kernels.source_hash = message.at("source_hash");
  kernels.extra_shared_bytes = message.at("extra_shared_bytes");
  for (const json& part : message.at("parts")) {
    kernels.parts.push_back(std::make_shared<const CompiledKernel>(kernel_of(part)));
  }
  if (const auto found = message.find("rejection"); found != message.end()) {
    kernels.rejection = Rejection{found->at("field"), found->at("reason")};
  }
  return kernels;
}

json to_message(const Contestant& contestant) {
  return {{"id", contestant.id},
          {"config", canonical_text(contestant.config)},
          {"kernels", to_message(*contestant.kernels)}};
}

Contestant contestant_of(const json& message) {
  return {message.at("id"), parse_canonical<KernelConfig>(message.at("config").get<std::string>()),
          std::make_shared<const ConfigKernels>(kernels_of(message.at("kernels")))};
}

json to_message(const CheckOutcome& outcome) {
  json message{{"failure", outcome.failure}};
  // Not as canonical text, which knows no infinity: a wrong result may well have one.
  if (outcome.record) message["record"] = *outcome.record;
  return message;
}

CheckOutcome check_outcome_of(const json& message) {
  CheckOutcome outcome;
  outcome.failure = message.at("failure");
  if (const auto found = message.find("record"); found != message.end()) {
    outcome.record = found->get<CheckRecord>();
  }
  return outcome;
}

json to_message(const RunnerInputs& inputs) {
  return inputs;
}

RunnerInputs inputs_of(const json& message) {
  return message;
}

json to_message(const RaceRound& round) {
  return round;
}

RaceRound round_of(const json& message) {
  return message;
}

json to_message(const RaceOutcome& outcome) {
  return outcome;
}

RaceOutcome race_outcome_of(const json& message) {
  return message;
}

json to_message(const Error& error) {
  return {{"code", static_cast<int>(error.code())},
          {"field", error.field()},
          {"message", error.what()}};
}

Error error_of(const json& message) {
  return Error(static_cast<ErrorCode>(message.at("code").get<int>()), message.at("field"),
               message.at("message").get<std::string>());
}

}  // namespace heddle
