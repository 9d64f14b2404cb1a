#pragma once
// Figures of others, from bench/peers.yaml, each with its source.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

struct PeerSource {
  std::string text;
  std::string device;
  std::string date;
  std::string method;
};

/// TFLOP/s of the forward pass over lengths, 16384 tokens in all, heads * head_dim = 2048.
struct PeerSweep {
  std::string peer;
  std::string source;
  DataType dtype = DataType::kBf16;
  int head_dim = 0;
  MaskKind mask = MaskKind::kFull;
  std::map<int, double> tflops;  ///< by length
};

/// GB/s of K and V while decoding.
struct PeerDecode {
  std::string peer;
  std::string source;
  std::map<std::pair<int, int>, double> gbps;  ///< by batch and keys
};

/// One figure, or the least and the most of a range.
struct PeerFigure {
  std::string peer;
  std::string source;
  double least = 0;
  double most = 0;
};

struct Peers {
  std::map<std::string, PeerSource> sources;
  std::vector<PeerSweep> forward;
  std::vector<PeerDecode> decode;
  std::vector<PeerFigure> compile_seconds;
  std::vector<PeerFigure> hbm_gigabytes;
  std::vector<PeerFigure> peak_share;
  std::vector<PeerFigure> ablation_tflops;
  std::vector<PeerFigure> fp8_error;

  /// Of a problem's element type, head dim and mask; nullopt where there is none.
  std::optional<double> forward_tflops(const std::string& peer, const std::string& source,
                                       const Variant& variant, int length) const;
  std::optional<double> decode_gbps(const std::string& peer, int batch, int keys) const;
  /// "key: text; device; date; method", a line for each of these sources.
  std::vector<std::string> cited(const std::vector<std::string>& keys) const;
};

/// The figure of that name, or nullptr.
const PeerFigure* find_figure(const std::vector<PeerFigure>& figures, const std::string& peer);

/// Throws kInvalidArgument naming file, line, field, value and remedy.
Peers parse_peers(const std::string& text, const std::string& file_name);
/// bench/peers.yaml as it was built in; or a file of that form.
Peers load_peers(const std::string& file = {});

}  // namespace heddle
