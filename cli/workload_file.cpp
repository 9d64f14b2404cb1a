#include "cli/workload_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "generator/yaml_reader.hpp"

namespace heddle {
namespace {

constexpr int kFormat = 1;

/// One field of an entry with all its values.
struct Axis {
  std::string field;
  std::vector<std::string> values;
  YAML::Mark mark;
};

/// An entry on its way to problems.
struct Draft {
  NamedProblem named;
  int tokens = 0;  ///< batch times seqlen_q; 0 = not given
  bool has_keys = false;
};

class WorkloadReader {
 public:
  explicit WorkloadReader(const std::string& file_name) : reader_(file_name) {}

  std::vector<NamedProblem> read(const std::string& text) {
    try {
      const YAML::Node root = YAML::Load(text);
      check_format(root);
      for (const YAML::Node& node : list_of(root)) read_entry(node);
    } catch (const YAML::Exception& error) {
      reader_.fail(error.mark, "", error.msg + "; correct the YAML there");
    }
    return std::move(problems_);
  }

 private:
  void check_format(const YAML::Node& root) const {
    for (const auto& entry : reader_.entries(root, "")) {
      if (entry.key == "problems") continue;
      if (entry.key != "heddle_workload") {
        reader_.fail(entry.mark, entry.key, "unknown field; known ones: heddle_workload, problems");
      }
      int format = 0;
      const std::string given = reader_.scalar(entry, entry.key);
      if (parse_value(given, format) && format == kFormat) continue;
      reader_.fail(entry.mark, entry.key,
                   "format '" + given + "' is unknown to this heddle, which reads 1");
    }
    if (!root["heddle_workload"]) {
      reader_.fail(root.Mark(), "heddle_workload", "is missing; begin with heddle_workload: 1");
    }
  }

  YAML::Node list_of(const YAML::Node& root) const {
    const YAML::Node list = root["problems"];
    if (!list || !list.IsSequence() || list.size() == 0) {
      reader_.fail(list ? list.Mark() : root.Mark(), "problems",
                   "must be a list of '- {head_dim: 128, …}' entries");
    }
    return list;
  }

  void set(Draft& draft, const Axis& axis, const std::string& value) const {
    if (axis.field == "name") {
      draft.named.name = value;
    } else if (axis.field == "tokens") {
      if (!parse_value(value, draft.tokens) || draft.tokens < 1) {
        reader_.fail(axis.mark, axis.field, "'" + value + "' is not a number of tokens");
      }
    } else {
      try {
        set_problem_field(draft.named.problem, axis.field, value);
      } catch (const Error& error) {
        reader_.fail(axis.mark, axis.field, error.what());
      }
    }
    draft.has_keys |= axis.field == "seqlen_kv";
    if (axis.values.size() > 1) draft.named.name += fmt::format(" {}={}", axis.field, value);
  }

  void read_entry(const YAML::Node& node) {
    std::vector<Draft> drafts(1);
    drafts[0].named.name = "problem";
    for (const auto& entry : reader_.entries(node, "problems")) {
      const Axis axis{entry.key, reader_.list(entry, entry.key), entry.mark};
      std::vector<Draft> grown;
      for (const Draft& draft : drafts) {
        for (const std::string& value : axis.values) {
          grown.push_back(draft);
          set(grown.back(), axis, value);
        }
      }
      drafts = std::move(grown);
    }
    for (Draft& draft : drafts) finish(node.Mark(), draft);
  }

  void finish(const YAML::Mark& mark, Draft& draft) {
    Problem& problem = draft.named.problem;
    Sizes& sizes = problem.sizes;
    if (!draft.has_keys) sizes.seqlen_kv = sizes.seqlen_q;
    if (draft.tokens > 0) {
      if (sizes.batch != 1 || sizes.seqlen_q < 1 || draft.tokens % sizes.seqlen_q != 0) {
        reader_.fail(mark, "tokens",
                     fmt::format("'{}' does not give a batch beside batch={}, seqlen_q={}; give a "
                                 "multiple of seqlen_q, and no batch",
                                 draft.tokens, sizes.batch, sizes.seqlen_q));
      }
      sizes.batch = draft.tokens / sizes.seqlen_q;
    }
    if (const auto rejection = reject_problem(problem)) {
      reader_.fail(mark, rejection->field, draft.named.name + ": " + rejection->reason);
    }
    const auto same =
        std::find_if(problems_.begin(), problems_.end(),
                     [&](const NamedProblem& other) { return other.problem == problem; });
    if (same != problems_.end()) {
      reader_.fail(mark, "problems",
                   fmt::format("'{}' is the same problem as '{}'; remove one of them",
                               draft.named.name, same->name));
    }
    problems_.push_back(std::move(draft.named));
  }

  YamlReader reader_;
  std::vector<NamedProblem> problems_;
};

}  // namespace

std::vector<NamedProblem> parse_workload(const std::string& text, const std::string& file_name) {
  return WorkloadReader(file_name).read(text);
}

}  // namespace heddle
