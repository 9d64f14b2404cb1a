#include "tuner/model_config.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

using namespace heddle;

namespace {

/// A config.json of the given extra fields over a sound base.
std::string config(const std::string& fields) {
  return R"({"hidden_size": 4096, "num_attention_heads": 32, "torch_dtype": "bfloat16")" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

ModelAttention parse(const std::string& text) {
  return parse_model_config(text, "dir/m.json");
}

std::string refusal(const std::string& text, ErrorCode code = ErrorCode::kInvalidArgument) {
  try {
    parse(text);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK(std::string(error.what()).find("dir/m.json: ") == 0);
    return error.field() + "|" + error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

ModelAttention example(const std::string& name) {
  return read_model_config(HEDDLE_EXAMPLE_MODELS "/" + name + ".json");
}

std::vector<std::string> texts(const ModelProblems& derived) {
  std::vector<std::string> result;
  for (const NamedProblem& entry : derived.problems) {
    const std::string variant = canonical_text(entry.problem.variant);
    result.push_back(variant + (variant.empty() ? "" : ",") + canonical_text(entry.problem.sizes));
  }
  return result;
}

}  // namespace

TEST_CASE("the example models say what their publishers say") {
  struct Expected {
    const char* name;
    int heads, kv_heads, head_dim, max_length;
  };
  for (const Expected& expected :
       {Expected{"llama-3-8b", 32, 8, 128, 8192}, Expected{"llama-3.1-70b", 64, 8, 128, 131072},
        Expected{"qwen2.5-7b-instruct", 28, 4, 128, 32768},
        Expected{"gemma-2-9b-it", 16, 8, 256, 8192}, Expected{"mistral-7b-v0.1", 32, 8, 128, 32768},
        Expected{"gpt2", 12, 12, 64, 1024}, Expected{"phi-3-mini-4k-instruct", 32, 32, 96, 4096},
        Expected{"gemma-7b", 16, 16, 256, 8192}, Expected{"qwen3-8b", 32, 8, 128, 40960}}) {
    INFO(expected.name);
    const ModelAttention model = example(expected.name);
    CHECK(model.heads == expected.heads);
    CHECK(model.kv_heads == expected.kv_heads);
    CHECK(model.head_dim == expected.head_dim);
    CHECK(model.max_length == expected.max_length);
    CHECK(model.scale == 0);
    const ModelProblems derived =
        derive_problems(model, {.lengths = {512}, .ignored = {"softcap"}});
    CHECK(derived.problems.size() == 2);
  }
}

TEST_CASE("every example file is read by the test above") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_EXAMPLE_MODELS)) {
    files += entry.path().extension() == ".json";
  }
  CHECK(files == 9);
}

TEST_CASE("windows: none, all layers, or some") {
  CHECK(example("qwen2.5-7b-instruct").window == 0);  // use_sliding_window is false
  CHECK(example("qwen3-8b").window == 0);
  CHECK(example("mistral-7b-v0.1").window == 4096);
  CHECK_FALSE(example("mistral-7b-v0.1").has_full_layers);
  CHECK(example("gemma-2-9b-it").window == 4096);
  CHECK(example("gemma-2-9b-it").has_full_layers);
  CHECK(example("gemma-2-9b-it").softcap == 50);

  const auto listed = [](const std::string& types, const std::string& more) {
    return parse(config(R"("layer_types": [)" + types + "]" + more));
  };
  const std::string both = R"("sliding_attention", "full_attention")";
  CHECK(listed(both, R"(, "sliding_window": 512)").has_full_layers);
  CHECK(listed(both, R"(, "sliding_window": 512)").window == 512);
  CHECK(listed(R"("full_attention")", R"(, "sliding_window": 512)").window == 0);
  CHECK_FALSE(listed(R"("sliding_attention")", R"(, "sliding_window": 512)").has_full_layers);
  CHECK(listed(both, R"(, "sliding_window": 512, "use_sliding_window": false)").window == 0);
  CHECK(parse(config(R"("sliding_window": 512, "sliding_window_pattern": 6)")).has_full_layers);
  CHECK(parse(config(R"("sliding_window": null)")).window == 0);
  const ModelAttention hybrid = listed(R"("linear_attention", "full_attention")", "");
  REQUIRE(hybrid.notes.size() == 1);
  CHECK(contains(hybrid.notes[0], "layer_types"));
}

TEST_CASE("the many spellings of heads, head dim and scale") {
  CHECK(parse(config("")).kv_heads == 32);
  CHECK(parse(config(R"("num_key_value_heads": 4)")).kv_heads == 4);
  CHECK(parse(config(R"("num_key_value_heads": null)")).kv_heads == 32);
  CHECK(parse(config(R"("multi_query": true)")).kv_heads == 1);
  CHECK(parse(config(R"("multi_query": true, "new_decoder_architecture": true,
                         "num_kv_heads": 8)"))
            .kv_heads == 8);
  CHECK(parse(config(R"("head_dim": 64)")).head_dim == 64);
  CHECK(parse(R"({"n_embd": 1024, "n_head": 16})").head_dim == 64);
  CHECK(parse(config(R"("query_pre_attn_scalar": 224)")).scale == 1 / std::sqrt(224.0));
  CHECK(parse(config(R"("query_pre_attn_scalar": 128)")).scale == 0);  // the default, spelt out
  CHECK(parse(config(R"("attention_multiplier": 0.015625)")).scale == 0.015625);
  CHECK(parse(config(R"("scale_attn_weights": false)")).scale == 1);
}

TEST_CASE("a nested text_config counts, with the outer dtype") {
  const ModelAttention model = parse(
      R"({"torch_dtype": "float16", "num_attention_heads": 1, "_name_or_path": "some/model",
          "text_config": {"num_attention_heads": 8, "hidden_size": 512, "dtype": "float32"}})");
  CHECK(model.heads == 8);
  CHECK(model.head_dim == 64);
  CHECK(model.dtype == DataType::kFp16);
  CHECK(model.name == "some/model");
  CHECK(contains(refusal(R"({"num_attention_heads": 1, "text_config": {"hidden_size": 512}})"),
                 "text_config.num_attention_heads: missing"));
  CHECK(contains(refusal(R"({"text_config": 3})"), "text_config: 3 is not an object"));
}

TEST_CASE("a dtype that no kernel computes in is replaced only with a note") {
  const ModelWorkload workload{.lengths = {64}};
  const auto notes = [&workload](const std::string& text) {
    return derive_problems(parse(text), workload).notes;
  };
  CHECK(notes(config("")).empty());
  const auto missing = notes(R"({"n_embd": 768, "n_head": 12})");
  REQUIRE(missing.size() == 1);
  CHECK(contains(missing[0], "dtype: not stated in dir/m.json; taken as bf16"));
  CHECK(contains(notes(config(R"("dtype": "float32")")).at(0), "'float32'"));
  CHECK(parse(config(R"("dtype": "torch.float16")")).dtype == DataType::kFp16);

  const ModelProblems chosen = derive_problems(parse(R"({"n_embd": 768, "n_head": 12})"),
                                               {.lengths = {64}, .dtype = DataType::kFp16});
  CHECK(chosen.notes.empty());
  CHECK(chosen.problems[0].problem.variant.dtype == DataType::kFp16);
}

TEST_CASE("malformed values are refused with field, value, file and remedy") {
  CHECK(contains(refusal("{"), "not valid JSON at byte"));
  CHECK(contains(refusal("[1]"), "holds a JSON array"));
  CHECK(contains(refusal("{}"), "num_attention_heads|dir/m.json: num_attention_heads: missing"));
  CHECK(contains(refusal("{}"), "add num_attention_heads or n_head or n_heads"));
  CHECK(contains(refusal(R"({"num_attention_heads": 8})"), "hidden_size|"));
  CHECK(contains(refusal(R"({"num_attention_heads": "8"})"),
                 R"("8" is a string, not a whole number)"));
  CHECK(contains(refusal(R"({"num_attention_heads": 0})"), "0 is out of range"));
  CHECK(contains(refusal(R"({"num_attention_heads": -4})"), "-4 is out of range"));
  CHECK(contains(refusal(R"({"num_attention_heads": 18446744073709551615})"), "out of range"));
  CHECK(contains(refusal(R"({"num_attention_heads": 2.5})"), "2.5 is a number, not a whole"));
  CHECK(contains(refusal(config(R"("num_key_value_heads": 5)")),
                 "num_key_value_heads: 5 does not divide num_attention_heads (32)"));
  CHECK(contains(refusal(R"({"num_attention_heads": 3, "hidden_size": 64})"),
                 "hidden_size: 64 is not a multiple of num_attention_heads (3)"));
  CHECK(contains(refusal(config(R"("query_pre_attn_scalar": "x")")), R"("x" is a string)"));
  CHECK(contains(refusal(config(R"("query_pre_attn_scalar": 0)")), "0 is not above 0"));
  CHECK(contains(refusal(config(R"("attn_logit_softcapping": -1)")), "-1 is not above 0"));
  CHECK(contains(refusal(config(R"("use_sliding_window": "no")")), "not true or false"));
  CHECK(contains(refusal(config(R"("layer_types": "full")")), "is not a list of texts"));
  CHECK(contains(refusal(config(R"("layer_types": ["sliding_attention"])")),
                 "sliding_window: missing"));
  CHECK(contains(refusal(config(R"("layer_types": [])")), "names no softmax attention"));
  CHECK(contains(refusal(config(R"("dtype": "int8")")), "'int8' is not float16"));
  CHECK(contains(refusal(config(R"("dtype": 16)")), "16 is a number, not a text"));
}

TEST_CASE("attention of another kind is refused as unsupported") {
  const auto unsupported = ErrorCode::kUnsupported;
  CHECK(contains(refusal(config(R"("layer_types": ["chunked_attention"])"), unsupported),
                 "layer_types (value 'chunked_attention')"));
  CHECK(contains(refusal(config(R"("kv_lora_rank": 512)"), unsupported), "kv_lora_rank"));
  CHECK(contains(refusal(config(R"("v_head_dim": 8)"), unsupported), "v_head_dim (value 8)"));
  CHECK(contains(refusal(config(R"("attention_chunk_size": 8192)"), unsupported),
                 "attention_chunk_size (value 8192)"));
  CHECK(contains(refusal(config(R"("is_encoder_decoder": true)"), unsupported),
                 "is_encoder_decoder (value true)"));
  CHECK(contains(refusal(config(R"("scale_attn_by_inverse_layer_idx": true)"), unsupported),
                 "scale_attn_by_inverse_layer_idx"));
}

TEST_CASE("a file that is not there is named") {
  CHECK_THROWS_WITH(read_model_config("/no/such/file.json"),
                    Catch::Contains("'/no/such/file.json' cannot be read"));
}

TEST_CASE("prefill is causal and square, decoding is one query over all keys") {
  const ModelProblems derived =
      derive_problems(example("llama-3-8b"), {.batches = {1, 4}, .lengths = {512, 4096}});
  const std::string heads = "heads=32,kv_heads=8,";
  CHECK(texts(derived) ==
        std::vector<std::string>{
            "mask=causal," + heads + "seqlen_q=512,seqlen_kv=512", heads + "seqlen_kv=512",
            "mask=causal," + heads + "seqlen_q=4096,seqlen_kv=4096", heads + "seqlen_kv=4096",
            "mask=causal,batch=4," + heads + "seqlen_q=512,seqlen_kv=512",
            "batch=4," + heads + "seqlen_kv=512",
            "mask=causal,batch=4," + heads + "seqlen_q=4096,seqlen_kv=4096",
            "batch=4," + heads + "seqlen_kv=4096"});
  CHECK(derived.problems[0].name == "meta-llama/Meta-Llama-3-8B prefill b1 s512");
  CHECK(derived.problems[7].name == "meta-llama/Meta-Llama-3-8B decode b4 s4096");
  CHECK(derived.ignored.empty());
  CHECK(
      derive_problems(example("llama-3-8b"), {.lengths = {8}, .prefill = false}).problems.size() ==
      1);
}

TEST_CASE("what cannot be honoured is refused, or left out by the user's word") {
  const auto refused = [](const std::string& name, const ModelWorkload& workload) -> std::string {
    try {
      derive_problems(example(name), workload);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kUnsupported);
      return error.field() + "|" + error.what();
    }
    return "accepted";
  };
  const std::string both = refused("gemma-2-9b-it", {.lengths = {8192}});
  CHECK(contains(both, "sliding_window (value 4096): give --ignore window"));
  CHECK(contains(both, "attn_logit_softcapping (value 50): give --ignore softcap"));
  CHECK(contains(both, "gemma-2-9b-it.json"));
  CHECK(contains(refused("gemma-2-9b-it", {.lengths = {8192}, .ignored = {"softcap"}}),
                 "sliding_window|"));

  // A window as long as the sequence is no window.
  CHECK(refused("mistral-7b-v0.1", {.lengths = {4096}}) == "accepted");
  CHECK(contains(refused("mistral-7b-v0.1", {.lengths = {4097}}), "--ignore window"));

  const ModelProblems derived = derive_problems(
      example("gemma-2-9b-it"), {.lengths = {1024, 8192}, .ignored = {"softcap", "window"}});
  CHECK(derived.problems.size() == 4);  // full and windowed layers pose the same ones
  REQUIRE(derived.ignored.size() == 2);
  CHECK(derived.ignored[0].field == "attn_logit_softcapping");
  CHECK(derived.ignored[1].field == "sliding_window");
  CHECK(derived.ignored[1].value == "4096");
  CHECK(derived.ignored[1].flag == "--ignore window");

  const ModelAttention falcon = parse(config(R"("alibi": true)"));
  CHECK_THROWS_WITH(derive_problems(falcon, {.lengths = {64}}),
                    Catch::Contains("alibi (value true): give --ignore alibi"));
}

TEST_CASE("a workload that makes no sense is refused") {
  const ModelAttention model = parse(config(""));
  CHECK_THROWS_WITH(derive_problems(model, {.lengths = {0}}), "length: 0 is below 1");
  CHECK_THROWS_WITH(derive_problems(model, {.lengths = {}}), "length: give at least one");
  CHECK_THROWS_WITH(derive_problems(model, {.batches = {-1}, .lengths = {8}}),
                    "batch: -1 is below 1");
  CHECK_THROWS_WITH(derive_problems(model, {.lengths = {8}, .ignored = {"windows"}}),
                    "ignore: 'windows' is not one of window, softcap, alibi");
  CHECK_THROWS_WITH(derive_problems(parse(config(R"("head_dim": 100)")), {.lengths = {8}}),
                    Catch::Contains("dir/m.json: head_dim: 100 is not a multiple of 8"));
  const ModelProblems derived = derive_problems(example("gpt2"), {.lengths = {2048}});
  CHECK(contains(derived.notes.back(), "2048 is beyond the model's 1024 positions"));
}
