#pragma once
// From a model's config.json, as published with its weights, to the attention problems it poses.

#include <optional>
#include <string>
#include <vector>

#include "tuner/named_problem.hpp"

namespace heddle {

/// What a model's attention layers are like. A model may have layers of two kinds: with a window
/// and without.
struct ModelAttention {
  std::string name;  ///< "_name_or_path", else the file's name without folder and ending
  std::string file;  ///< as given; errors name it
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  double scale = 0;               ///< 0 = 1/sqrt(head_dim)
  std::optional<DataType> dtype;  ///< absent: not stated, or one that no kernel computes in
  std::string dtype_text;         ///< as the file says it; empty if it does not
  int max_length = 0;             ///< max_position_embeddings; 0 = not stated
  bool has_full_layers = true;
  int window = 0;  ///< keys a query of a windowed layer sees, itself included; 0 = no such layer
  double softcap = 0;  ///< 0 = none
  bool alibi = false;
  std::vector<std::string> notes;  ///< choices made while reading; to be shown
};

/// Reads FILE, or FOLDER/config.json. Throws kInvalidArgument naming field, value, file and remedy,
/// or kUnsupported for layers that are no softmax attention of this kind.
ModelAttention read_model_config(const std::string& path);
/// The same from text; `file` is only named.
ModelAttention parse_model_config(const std::string& text, const std::string& file);

/// What is asked of a model.
struct ModelWorkload {
  std::vector<int> batches = {1};
  std::vector<int> lengths;          ///< prefill: queries and keys; decoding: keys
  bool prefill = true;               ///< causal, as many queries as keys
  bool decode = true;                ///< one query
  std::optional<DataType> dtype;     ///< overrides the model's
  std::vector<std::string> ignored;  ///< "window", "softcap", "alibi": run as if they were absent
};

/// A field of the model that no kernel honours yet.
struct UnhonouredField {
  std::string field;  ///< in config.json: "sliding_window"
  std::string value;
  std::string flag;  ///< what accepts running without it: "--ignore window"
};

struct ModelProblems {
  std::vector<NamedProblem> problems;
  std::vector<UnhonouredField> ignored;  ///< what these problems leave out, by the user's word
  std::vector<std::string> notes;        ///< the model's, and choices made here
};

/// Throws kUnsupported naming field, value and flag where a field cannot be honoured and is not in
/// `ignored`; kInvalidArgument for an unknown name there, and for batches or lengths below 1. A
/// window matters only to lengths beyond it.
ModelProblems derive_problems(const ModelAttention& model, const ModelWorkload& workload);

}  // namespace heddle
