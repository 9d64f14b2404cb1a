// One clear error per wrong input: field, value, remedy, exit code 2. No compiler, no GPU.
#include <catch2/catch.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;

void check_refusal(const ProcessResult& result, const std::vector<std::string>& words) {
  INFO("stdout: " << result.output << "\nstderr: " << result.errors);
  CHECK(result.code == 2);
  CHECK(result.output.empty());
  CHECK_THAT(result.errors, !Contains("terminate") && !Contains("internal"));
  for (const std::string& word : words) CHECK_THAT(result.errors, Contains(word));
}

TEST_CASE("A wrong problem is refused by name, value and remedy") {
  const HeddleProcess heddle;
  struct Row {
    std::vector<std::string> flags;
    std::vector<std::string> words;
  };
  const Row rows[] = {
      {{"--head-dim", "100"}, {"head_dim: 100", "multiple of 8", "pad Q, K and V to 104"}},
      {{"--head-dim", "0"}, {"head_dim: 0", "give 8"}},
      {{"--head-dim", "264"}, {"head_dim: 264", "256"}},
      {{"--head-dim", "wide"}, {"head_dim: 'wide'", "whole number"}},
      {{"--heads", "2147483648"}, {"heads: '2147483648'", "within +-2147483647"}},
      {{"--heads", "6", "--kv-heads", "4"}, {"kv_heads: 4", "does not divide heads (6)"}},
      {{"--seqlen-q", "-3"}, {"seqlen_q: -3", "negative", "0 or more"}},
      {{"--seqlen-kv", "-1"}, {"seqlen_kv: -1", "negative"}},
      {{"--batch", "99999999999999999999"}, {"batch: '99999999999999999999'"}},
      {{"--scale", "-1"}, {"scale: -1", "negate Q"}},
      {{"--scale", "nan"}, {"scale: 'nan'"}},
      {{"--alignment", "3"}, {"alignment: 3", "16, 8, 4 or 2"}},
      {{"--mask", "striped"}, {"mask: 'striped'", "full, causal"}},
      {{"--dtype", "fp64"}, {"dtype: 'fp64'", "fp16, bf16"}},
      {{"--set", "tile_x=3"}, {"'tile_x'", "known fields", "tile_m", "stages"}},
      {{"--set", "tile_m"}, {"'tile_m'", "name=value"}},
      {{"--set", "stages=2x"}, {"stages: '2x'", "whole number"}},
      {{"--family", "fa9"}, {"family: 'fa9'", "unfused, fa1, fa2"}},
      {{"--arch", "sm_12"}, {"'sm_12'", "sm_80", "sm_90a"}},
      {{"--part", "combine"}, {"'combine'", "fa3_attention"}},
      {{"--tile", "3"}, {"--tile", "--help"}},
  };
  for (const Row& row : rows) {
    for (const std::string verb : {"emit", "explain"}) {
      if (verb == "explain" && row.flags[0] == "--part") continue;
      std::vector<std::string> arguments{verb};
      arguments.insert(arguments.end(), row.flags.begin(), row.flags.end());
      INFO(verb << " " << row.flags[0] << " " << row.flags.back());
      check_refusal(heddle.run(arguments), row.words);
    }
  }
}

TEST_CASE("What no kernel honours yet is refused as unsupported, by field") {
  const HeddleProcess heddle;
  const std::vector<std::pair<std::string, std::string>> later{
      {"window_left", "128"},    {"window_right", "0"},      {"softcap", "50"},
      {"head_dim_v", "64"},      {"direction", "backward"},  {"lengths", "seqused"},
      {"lengths", "cu_seqlens"}, {"paged_kv", "true"},       {"bias", "true"},
      {"alibi", "true"},         {"sinks", "true"},          {"score_snippet", "s*2"},
      {"mask_snippet", "i<j"},   {"batch_invariant", "true"}};
  for (const auto& [field, value] : later) {
    std::string flag = "--" + field;
    for (char& c : flag) c = c == '_' ? '-' : c;
    for (const std::string verb : {"emit", "compile", "verify", "bench", "explain", "tune"}) {
      INFO(verb);
      check_refusal(heddle.run({verb, flag, value}), {"unsupported: " + field, "heddle computes"});
    }
  }
}

TEST_CASE("A problem file is refused at its line") {
  const HeddleProcess heddle;
  const auto refuse = [&](const std::string& text, const std::vector<std::string>& words) {
    INFO(text);
    check_refusal(heddle.run({"emit", "--problem", heddle.write("problem.yaml", text)}), words);
  };
  refuse("heads: 8\nhead_dimm: 64\n", {"problem.yaml:2:", "'head_dimm'", "head_dim", "seqlen_q"});
  refuse("heads: 8\n\nhead_dim: wide\n", {"problem.yaml:3:", "'wide'"});
  refuse("heads: 8\nheads: 9\n", {"problem.yaml:2:", "'heads' is given twice"});
  refuse("heads: [8, 9]\n", {"problem.yaml:1:", "single value"});
  refuse("heads: 8\n  x: [1\n", {"problem.yaml:2:"});
  refuse("head_dim: 100\n", {"head_dim: 100"});
  check_refusal(heddle.run({"emit", "--problem", heddle.path("absent.yaml")}),
                {"absent.yaml", "check that the file exists"});
}

TEST_CASE("Flags go before the problem file") {
  const HeddleProcess heddle;
  const auto file = heddle.write("problem.yaml", "head_dim: 64\nmask: causal\n");
  const auto result = heddle.run({"emit", "--problem", file, "--head-dim", "96"});
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Contains("kHeadDim = 96;") && Contains("kCausal = true;"));
}

std::string npy(const std::string& shape, std::size_t bytes) {
  std::string header = "{'descr': '<f2', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + char(118) + '\0' + header + std::string(bytes, '\0');
}

TEST_CASE("Truncated and mismatched .npy files are refused by name") {
  const HeddleProcess heddle;
  const auto whole = heddle.write("whole.npy", npy("1, 2, 8, 64", 2048));
  const auto cut = heddle.write("cut.npy", npy("1, 2, 8, 64", 2038));
  const auto narrow = heddle.write("narrow.npy", npy("1, 2, 8, 32", 1024));
  for (const std::string verb : {"run", "verify"}) {
    const auto with_key = [&](const std::string& key) {
      std::vector<std::string> arguments{verb, "--q", whole, "--k", key, "--v", whole};
      if (verb == "run") arguments.insert(arguments.end(), {"-o", heddle.path("o.npy")});
      arguments.insert(arguments.end(), {"--driver", heddle.path("no_driver.so")});
      return heddle.run(arguments);
    };
    INFO(verb);
    check_refusal(with_key(cut), {"cut.npy", "2038"});
    check_refusal(with_key(narrow), {"key", "32", "64"});
    check_refusal(with_key(heddle.path("none.npy")), {"none.npy", "check that the file exists"});
    check_refusal(with_key(heddle.write("text.npy", "hello")), {"text.npy"});
    const auto readable = with_key(whole);  // then it is the driver that is missing
    CHECK(readable.code == 3);
    CHECK_THAT(readable.errors, Contains("no_driver.so"));
  }
  check_refusal(heddle.run({"run"}), {"--q", "--output"});
  check_refusal(heddle.run({"run", "--q", whole, "-o", heddle.path("o.npy")}), {"--k"});
}

TEST_CASE("Flags that contradict the .npy files are refused, those that repeat them are not") {
  const HeddleProcess heddle;
  const auto query = heddle.write("q.npy", npy("1, 6, 8, 64", 6144));
  const auto key = heddle.write("k.npy", npy("1, 3, 8, 64", 3072));
  const auto run = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{
        "verify", "--q", query, "--k", key, "--v", key, "--driver", heddle.path("no_driver.so")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return heddle.run(arguments);
  };
  check_refusal(run({"--batch", "2"}), {"batch: 2", ".npy files hold 1"});
  check_refusal(run({"--heads", "8"}), {"heads: 8", "hold 6"});
  check_refusal(run({"--kv-heads", "6"}), {"kv_heads: 6", "hold 3"});
  check_refusal(run({"--kv-heads", "0"}), {"kv_heads: 0", "hold 3"});
  check_refusal(run({"--seqlen-q", "9"}), {"seqlen_q: 9", "hold 8"});
  check_refusal(run({"--seqlen-kv", "9"}), {"seqlen_kv: 9", "hold 8"});
  check_refusal(run({"--head-dim", "128"}), {"head_dim: 128", "hold 64"});
  check_refusal(run({"--dtype", "bf16"}), {"dtype: bf16", "hold fp16", "--bf16"});
  check_refusal(run({"--problem", heddle.write("problem.yaml", "heads: 7\n")}),
                {"heads: 7", "hold 6"});
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--kv-heads", "3", "--heads", "6", "--dtype", "fp16"},
        std::vector<std::string>{"--mask", "causal", "--scale", "0.5"}}) {
    const auto accepted = run(flags);  // then it is the driver that is missing
    INFO(accepted.errors);
    CHECK(accepted.code == 3);
  }
}

TEST_CASE("A model that no kernel can honour names the flag that accepts that") {
  const HeddleProcess heddle;
  const std::string models = HEDDLE_EXAMPLE_MODELS;
  check_refusal(heddle.run({"tune", "--arch", "sm_90a", "--model", models + "/gemma-2-9b-it.json"}),
                {"unsupported: attn_logit_softcapping (value 50)", "--ignore softcap"});
  check_refusal(heddle.run({"tune", "--model", heddle.path("absent.json")}), {"absent.json"});
  check_refusal(heddle.run({"tune", "--families", "fa9"}), {"family: 'fa9'", "fa2"});
  check_refusal(heddle.run({"tune", "--limit", "-1"}), {"--limit", "-1"});
  check_refusal(heddle.run({"tune", "--only-bad"}), {"--only-bad", "--add-bad"});
  for (const std::string seconds : {"nan", "-nan", "inf", "-1", "1e300", "1s", ""}) {
    const std::string quoted = "'" + seconds + "' is no number of seconds";
    check_refusal(heddle.run({"tune", "--budget", seconds}), {"--budget", quoted, "0 = no limit"});
    check_refusal(heddle.run({"tune", "--candidate-seconds", seconds}),
                  {"--candidate-seconds", quoted});
    check_refusal(heddle.run({"tune", "--compile-seconds", seconds}),
                  {"--compile-seconds", quoted});
  }
  check_refusal(heddle.run({"tune", "--compile-seconds", "0"}), {"--compile-seconds", "'0'"});
  check_refusal(heddle.run({"bench", "--samples", "0"}), {"--samples", "0"});
}

TEST_CASE("A problem file that is none says so") {
  HeddleProcess heddle;
  const auto refuse = [&](const std::string& name, const std::string& text,
                          std::initializer_list<std::string> words) {
    check_refusal(heddle.run({"explain", "--problem", heddle.write(name, text)}), words);
  };
  refuse("empty.yaml", "", {"empty.yaml", "name: value"});
  refuse("list.yaml", "heads: [1, 2]\n", {"list.yaml:1", "'heads'", "single value"});
  refuse("two.yaml", "heads: 4\n---\nheads: 8\n", {"two.yaml:3", "one problem"});
  check_refusal(heddle.run({"explain", "--problem", "/"}), {"--problem", "'/'", "folder"});
}

TEST_CASE("A model file with a number beyond all range is refused by name") {
  HeddleProcess heddle;
  const std::string path = heddle.write("big.json", "{\"num_attention_heads\": 32, \"x\": 1e400}");
  check_refusal(heddle.run({"tune", "--model", path, "--arch", "sm_90a"}), {"big.json", "1e400"});
}

TEST_CASE("A model file nested beyond reason is refused, not followed") {
  HeddleProcess heddle;
  constexpr int kDepth = 200000;
  const std::string path =
      heddle.write("deep.json", "{\"num_attention_heads\":" + std::string(kDepth, '[') +
                                    std::string(kDepth, ']') + '}');
  const auto result = heddle.run({"tune", "--model", path, "--arch", "sm_90a"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("nested deeper than 64 levels"));
}

TEST_CASE("One flattened text holds one kernel") {
  const auto both =
      HeddleProcess().run({"emit", "--flatten", "--arch", "sm_90a", "--set", "split_kv=true"});
  CHECK(both.code == 2);
  CHECK_THAT(both.errors, Contains("--part") && Contains("fa3_attention, split_combine"));
  const auto one = HeddleProcess().run({"emit", "--flatten", "--arch", "sm_90a", "--set",
                                        "split_kv=true", "--part", "split_combine"});
  CHECK(one.code == 0);
}

TEST_CASE("The reference is no kernel to run") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  const auto result = heddle.run({"verify", "--device", "host", "--family", "reference"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("--family reference") && Contains("fa3"));
}

TEST_CASE("C83 an empty problem is done at once") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  const auto tuned = heddle.run({"tune", "--batch", "0", "--arch", "sm_90a"});
  CHECK(tuned.code == 0);
  CHECK_THAT(tuned.errors, Contains("an empty problem"));
  const auto verified = heddle.run({"verify", "--device", "host", "--seqlen-q", "0"});
  CHECK(verified.code == 0);
  CHECK_THAT(verified.output, Contains("passed: an empty problem"));
}

TEST_CASE("No verb, an unknown verb and an unknown action are wrong use") {
  const HeddleProcess heddle;
  check_refusal(heddle.run({}), {"--help"});
  check_refusal(heddle.run({"weave"}), {"weave", "--help"});
  check_refusal(heddle.run({"db"}), {"--help"});
  check_refusal(heddle.run({"db", "drop"}), {"drop"});
  check_refusal(heddle.run({"verify", "--device", "tpu"}), {"'tpu'", "gpu, host"});
}

}  // namespace
}  // namespace heddle
