#include "cli/model_flags.hpp"

#include <iostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/services.hpp"
#include "generator/problem.hpp"

namespace heddle {

void ModelFlags::add_to(CLI::App& app) {
  const std::string group = "Model";
  app.add_option("--model", file_, "a model's config.json, or the folder that holds it")
      ->group(group);
  app.add_option("--batches", workload_.batches, "batch sizes, comma-separated")
      ->delimiter(',')
      ->group(group);
  app.add_option("--seqlens", workload_.lengths,
                 "sequence lengths, comma-separated: prompts to prefill, caches to decode from")
      ->delimiter(',')
      ->group(group);
  app.add_option("--phase", phase_, "prefill, decode or both")
      ->check(CLI::IsMember({"prefill", "decode", "both"}))
      ->group(group);
  app.add_option("--model-dtype", dtype_, "instead of the model's own: " + enum_choices<DataType>())
      ->group(group);
  app.add_option("--ignore", workload_.ignored,
                 "run without what no kernel honours yet: window, softcap, alibi")
      ->delimiter(',')
      ->group(group);
}

std::vector<NamedProblem> ModelFlags::problems() const {
  ModelWorkload workload = workload_;
  workload.prefill = phase_ != "decode";
  workload.decode = phase_ != "prefill";
  if (!dtype_.empty()) {
    Variant variant;
    set_field(variant, "dtype", dtype_);
    workload.dtype = variant.dtype;
  }
  const ModelProblems derived = derive_problems(read_model_config(file_), workload);
  for (const std::string& note : derived.notes) print_note(note);
  for (const UnhonouredField& field : derived.ignored) {
    print_warning(
        fmt::format("{} = {} is ignored, as {} asks: the problems tuned here are not "
                    "exactly this model's",
                    field.field, field.value, field.flag));
  }
  return derived.problems;
}

void drop_empty(std::vector<NamedProblem>& problems) {
  std::erase_if(problems, [](const NamedProblem& named) {
    const bool empty = is_empty(named.problem.sizes);
    if (empty) std::cerr << named.name << ": an empty problem: nothing runs\n";
    return empty;
  });
}

}  // namespace heddle
