#include "tuner/model_config.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tuner/config_reader.hpp"

namespace heddle {
namespace {

void read_heads(const ConfigReader& config, ModelAttention& model) {
  model.heads = config.required_count({"num_attention_heads", "n_head", "n_heads"});
  // Falcon and GPT-BigCode say multi_query; Falcon's later layout says num_kv_heads instead.
  const bool multi_query = config.boolean("multi_query").value_or(false) &&
                           !config.boolean("new_decoder_architecture").value_or(false);
  if (const auto count = config.count({"num_key_value_heads"})) {
    model.kv_heads = *count;
  } else if (multi_query) {
    model.kv_heads = 1;
  } else {
    model.kv_heads = config.count({"num_kv_heads"}).value_or(model.heads);
  }
  if (model.heads % model.kv_heads == 0) return;
  config.fail("num_key_value_heads", value_text(model.kv_heads),
              "does not divide num_attention_heads (" + value_text(model.heads) +
                  "); each key/value head serves the same number of query heads");
}

void read_head_dim(const ConfigReader& config, ModelAttention& model) {
  if (config.has("kv_lora_rank")) {
    config.unsupported("kv_lora_rank", config.value_of("kv_lora_rank"),
                       "latent attention has head dims of Q/K and V that differ");
  }
  if (const auto head_dim = config.count({"head_dim"})) {
    model.head_dim = *head_dim;
    return;
  }
  const int width = config.required_count({"hidden_size", "n_embd", "d_model"});
  if (width % model.heads != 0) {
    config.fail(
        "hidden_size", value_text(width),
        "is not a multiple of num_attention_heads (" + value_text(model.heads) + "); add head_dim");
  }
  model.head_dim = width / model.heads;
}

/// What would make another kind of attention of a file that is otherwise like the others.
void refuse_other_kinds(const ConfigReader& config, const ModelAttention& model) {
  const int value_dim = config.count({"v_head_dim"}).value_or(model.head_dim);
  if (value_dim != model.head_dim) {
    config.unsupported(
        "v_head_dim", value_text(value_dim),
        "differs from head_dim (" + value_text(model.head_dim) + "); kernels take V as wide as K");
  }
  if (const auto chunk = config.count({"attention_chunk_size"})) {
    config.unsupported("attention_chunk_size", value_text(*chunk),
                       "layers that see their own chunk only are not computed yet; for lengths up "
                       "to it give the problem with --heads, --kv-heads, --head-dim instead");
  }
  if (config.boolean("is_encoder_decoder").value_or(false)) {
    config.unsupported("is_encoder_decoder", "true",
                       "encoder, decoder and cross attention are problems of their own; give each "
                       "with --mask, --seqlen-q, --seqlen-kv instead");
  }
}

void read_scale(const ConfigReader& config, ModelAttention& model) {
  if (const auto scalar = config.positive("query_pre_attn_scalar")) {
    model.scale = 1 / std::sqrt(*scalar);
  } else if (const auto multiplier = config.positive("attention_multiplier")) {
    model.scale = *multiplier;
  } else if (!config.boolean("scale_attn_weights").value_or(true)) {
    model.scale = 1;
  }
  // The default stays the default, so that models that spell it out share its problems.
  if (model.scale == 1 / std::sqrt(static_cast<double>(model.head_dim))) model.scale = 0;
  if (config.boolean("scale_attn_by_inverse_layer_idx").value_or(false)) {
    config.unsupported("scale_attn_by_inverse_layer_idx", "true",
                       "every layer has a scale of its own; give a problem with --scale instead");
  }
}

/// Loaders take the outer object's dtype before that of the nested one.
void read_dtype(const ConfigReader& outer, const ConfigReader& config, ModelAttention& model) {
  const ConfigReader::Names names = {"dtype", "torch_dtype"};
  auto text = outer.text(names);
  if (!text) text = config.text(names);
  if (!text) return;
  model.dtype_text = *text;
  const std::string prefix = "torch.";
  const std::string bare = text->rfind(prefix, 0) == 0 ? text->substr(prefix.size()) : *text;
  if (bare == "float16") model.dtype = DataType::kFp16;
  if (bare == "bfloat16") model.dtype = DataType::kBf16;
  if (model.dtype || bare == "float32" || bare == "auto") return;
  config.fail("torch_dtype", "'" + *text + "'", "is not float16, bfloat16, float32 or auto");
}

/// Which layers have a window, where the file lists them one by one.
void read_listed_layers(const ConfigReader& config, const std::vector<std::string>& types,
                        ModelAttention& model) {
  const auto has = [&types](const char* type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  bool other_layers = false;
  for (const std::string& type : types) {
    if (type == "full_attention" || type == "sliding_attention") continue;
    if (type != "linear_attention" && type != "conv" && type != "mamba") {
      config.unsupported("layer_types", "'" + type + "'",
                         "known are full_attention and sliding_attention");
    }
    other_layers = true;
  }
  if (other_layers) {
    model.notes.push_back("layer_types: layers that are no softmax attention are left out");
  }
  const bool sliding = has("sliding_attention");
  if (!sliding && !has("full_attention")) {
    config.fail("layer_types", config.value_of("layer_types"), "names no softmax attention layer");
  }
  if (sliding && model.window == 0 && !config.has("sliding_window")) {
    config.fail("sliding_window", "missing", "but layer_types has sliding_attention; add it");
  }
  model.has_full_layers = has("full_attention") || model.window == 0;
  if (!sliding) model.window = 0;
}

void read_window(const ConfigReader& config, ModelAttention& model) {
  const int window = config.count({"sliding_window"}).value_or(0);
  if (config.boolean("use_sliding_window").value_or(true)) model.window = window;
  if (const auto types = config.texts("layer_types")) {
    read_listed_layers(config, *types, model);
    return;
  }
  if (model.window == 0) return;
  // Older files leave the pattern to the model's code: Gemma 2 alternates, Gemma 3 has a full layer
  // every sliding_window_pattern, Qwen 2 has full layers below max_window_layers.
  const std::string type = config.text({"model_type"}).value_or("");
  const int pattern = config.count({"sliding_window_pattern"}).value_or(type == "gemma2" ? 2 : 1);
  model.has_full_layers = pattern > 1 || config.has("max_window_layers");
}

std::string name_of(const ConfigReader& config, const std::string& file) {
  const auto given = config.text({"_name_or_path"});
  if (given && !given->empty()) return *given;
  const std::filesystem::path path(file);
  // Every published file is called config.json; its folder then says more.
  if (path.filename() == "config.json" && path.has_parent_path()) {
    return path.parent_path().filename().string();
  }
  return path.stem().string();
}

}  // namespace

ModelAttention parse_model_config(const std::string& text, const std::string& file) {
  const ConfigReader outer(text, file);
  const auto inner = outer.nested("text_config");
  const ConfigReader& config = inner ? *inner : outer;
  ModelAttention model;
  model.file = file;
  model.name = name_of(outer, file);
  read_heads(config, model);
  read_head_dim(config, model);
  refuse_other_kinds(config, model);
  read_scale(config, model);
  read_dtype(outer, config, model);
  read_window(config, model);
  model.max_length = config.count({"max_position_embeddings", "n_positions"}).value_or(0);
  model.softcap = config.positive("attn_logit_softcapping").value_or(0);
  model.alibi = config.boolean("alibi").value_or(false);
  return model;
}

ModelAttention read_model_config(const std::string& path) {
  std::filesystem::path file(path);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) file /= "config.json";
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || !text) {
    throw Error(ErrorCode::kInvalidArgument, "model",
                "model: '" + file.string() + "' cannot be read; give a model's config.json");
  }
  return parse_model_config(text.str(), file.string());
}

}  // namespace heddle
