#include "cli/workload_flags.hpp"

#include <CLI/CLI.hpp>

#include "cli/text_file.hpp"
#include "cli/workload_file.hpp"

namespace heddle {

void WorkloadFlags::add_to(CLI::App& app) {
  problem_.add_to(app);
  model_.add_to(app);
  app.add_option("--workload", file_,
                 "YAML file of many problems, as tuning_db/workloads/h200.yaml")
      ->group("Workload");
}

std::vector<NamedProblem> WorkloadFlags::problems() const {
  if (has_file()) {
    if (model_.given() || problem_.any_given()) {
      throw Error(ErrorCode::kInvalidArgument, "workload",
                  "--workload " + file_ + ": the file says which problems; leave --model and the " +
                      "flags of a problem out");
    }
    return parse_workload(read_text_file(file_), file_);
  }
  if (model_.given()) return model_.problems();
  return {{"problem", problem_.resolve()}};
}

}  // namespace heddle
