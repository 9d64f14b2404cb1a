#include <algorithm>

#include "tuner/model_config.hpp"

namespace heddle {
namespace {

constexpr DataType kDefaultType = DataType::kBf16;

/// What a model may have that kernels might not: how it is switched on, and off again.
struct Feature {
  const char* name;   ///< for --ignore
  const char* field;  ///< in config.json
  std::string value;
  void (*copy)(const Variant& from, Variant& to);
};

std::vector<Feature> features_of(const ModelAttention& model) {
  return {{"window", "sliding_window", value_text(model.window),
           [](const Variant& from, Variant& to) { to.window_left = from.window_left; }},
          {"softcap", "attn_logit_softcapping", value_text(model.softcap),
           [](const Variant& from, Variant& to) { to.softcap = from.softcap; }},
          {"alibi", "alibi", value_text(model.alibi),
           [](const Variant& from, Variant& to) { to.alibi = from.alibi; }}};
}

void check_workload(const ModelAttention& model, const ModelWorkload& workload) {
  const auto require_positive = [](const char* field, const std::vector<int>& values) {
    for (const int value : values) {
      if (value >= 1) continue;
      throw Error(ErrorCode::kInvalidArgument, field,
                  std::string(field) + ": " + value_text(value) + " is below 1");
    }
    if (!values.empty()) return;
    throw Error(ErrorCode::kInvalidArgument, field, std::string(field) + ": give at least one");
  };
  require_positive("batch", workload.batches);
  require_positive("length", workload.lengths);
  const auto features = features_of(model);
  for (const std::string& name : workload.ignored) {
    const bool known =
        std::any_of(features.begin(), features.end(),
                    [&name](const Feature& feature) { return name == feature.name; });
    if (known) continue;
    throw Error(ErrorCode::kInvalidArgument, "ignore",
                "ignore: '" + name + "' is not one of window, softcap, alibi");
  }
}

class Derivation {
 public:
  Derivation(const ModelAttention& model, const ModelWorkload& workload)
      : model_(model), workload_(workload), features_(features_of(model)) {
    result_.notes = model.notes;
    choose_type();
  }

  ModelProblems run() {
    for (const int batch : workload_.batches) {
      for (const int length : workload_.lengths) {
        if (workload_.prefill) add("prefill", batch, length, length, MaskKind::kCausal);
        if (workload_.decode) add("decode", batch, 1, length, MaskKind::kFull);
      }
    }
    if (!unaccepted_.empty()) refuse();
    note_long_lengths();
    return std::move(result_);
  }

 private:
  void choose_type() {
    type_ = workload_.dtype ? *workload_.dtype : model_.dtype.value_or(kDefaultType);
    if (workload_.dtype || model_.dtype) return;
    const std::string stated =
        model_.dtype_text.empty() ? "not stated" : "'" + model_.dtype_text + "'";
    result_.notes.push_back("dtype: " + stated + " in " + model_.file + "; taken as " +
                            value_text(type_) + " (choose with --model-dtype)");
  }

  void add(const std::string& phase, int batch, int queries, int keys, MaskKind mask) {
    Problem problem;
    problem.variant.dtype = type_;
    problem.variant.head_dim = model_.head_dim;
    problem.variant.mask = mask;
    problem.sizes = {.batch = batch,
                     .heads = model_.heads,
                     .kv_heads = model_.kv_heads == model_.heads ? 0 : model_.kv_heads,
                     .seqlen_q = queries,
                     .seqlen_kv = keys,
                     .scale = model_.scale};
    problem.variant.softcap = model_.softcap;
    problem.variant.alibi = model_.alibi;
    const std::string name =
        model_.name + " " + phase + " b" + value_text(batch) + " s" + value_text(keys);
    if (model_.has_full_layers) add_problem(name, problem);
    if (model_.window == 0) return;
    // The window counts the query itself; one that reaches past the first key changes nothing.
    if (keys > model_.window) problem.variant.window_left = model_.window - 1;
    add_problem(name, problem);
  }

  void add_problem(std::string name, Problem problem) {
    drop_unhonoured(problem.variant);
    if (problem.variant.window_left >= 0) name += " window";
    if (const auto rejection = reject_problem(problem)) {
      throw Error(rejection->unsupported ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument,
                  rejection->field, model_.file + ": " + rejection->reason);
    }
    const bool known =
        std::any_of(result_.problems.begin(), result_.problems.end(),
                    [&problem](const NamedProblem& other) { return other.problem == problem; });
    if (!known) result_.problems.push_back({name, std::move(problem)});
  }

  /// Legality itself says what is honoured, so a feature that becomes so needs no change here.
  void drop_unhonoured(Variant& variant) {
    for (const Feature& feature : features_) {
      Variant alone;
      alone.head_dim = variant.head_dim;
      feature.copy(variant, alone);
      const auto rejection = reject_variant(alone);
      if (!rejection || !rejection->unsupported) continue;
      feature.copy(Variant{}, variant);
      const bool accepted = std::find(workload_.ignored.begin(), workload_.ignored.end(),
                                      feature.name) != workload_.ignored.end();
      remember(accepted ? result_.ignored : unaccepted_, feature);
    }
  }

  static void remember(std::vector<UnhonouredField>& fields, const Feature& feature) {
    const bool known = std::any_of(
        fields.begin(), fields.end(),
        [&feature](const UnhonouredField& entry) { return entry.field == feature.field; });
    if (known) return;
    fields.push_back({feature.field, feature.value, std::string("--ignore ") + feature.name});
  }

  [[noreturn]] void refuse() const {
    std::string text;
    for (const UnhonouredField& entry : unaccepted_) {
      text += (text.empty() ? "" : "; ") + entry.field + " (value " + entry.value + "): give " +
              entry.flag + " to run without it";
    }
    throw Error(ErrorCode::kUnsupported, unaccepted_.front().field,
                model_.file + ": unsupported: " + text);
  }

  void note_long_lengths() {
    const int longest = *std::max_element(workload_.lengths.begin(), workload_.lengths.end());
    if (model_.max_length == 0 || longest <= model_.max_length) return;
    result_.notes.push_back("length: " + value_text(longest) + " is beyond the model's " +
                            value_text(model_.max_length) + " positions");
  }

  const ModelAttention& model_;
  const ModelWorkload& workload_;
  const std::vector<Feature> features_;
  DataType type_ = kDefaultType;
  std::vector<UnhonouredField> unaccepted_;
  ModelProblems result_;
};

}  // namespace

ModelProblems derive_problems(const ModelAttention& model, const ModelWorkload& workload) {
  check_workload(model, workload);
  return Derivation(model, workload).run();
}

}  // namespace heddle
