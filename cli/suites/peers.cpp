#include "cli/suites/peers.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "cli/text_file.hpp"
#include "generator/error.hpp"
#include "generator/field.hpp"
#include "generator/template_library.hpp"

namespace heddle {

/// The YAML files of bench/ that the command prints; written by cmake.
std::span<const EmbeddedTemplate> embedded_figures();

namespace {

/// Reads one file; every complaint names it and the line.
class PeersReader {
 public:
  explicit PeersReader(std::string file_name) : file_name_(std::move(file_name)) {}

  Peers read(const YAML::Node& root) {
    Peers peers;
    require_map(root, "the file", root);
    for (const auto& entry : child(root, "sources")) {
      const YAML::Node node = entry.second;
      peers.sources[entry.first.as<std::string>()] = {
          value<std::string>(node, "text"), value<std::string>(node, "device"),
          value<std::string>(node, "date"), value<std::string>(node, "method")};
    }
    for (const auto& node : list(root, "forward")) peers.forward.push_back(sweep(node, peers));
    for (const auto& node : list(root, "decode")) peers.decode.push_back(decode(node, peers));
    peers.compile_seconds = figures(root, "compile", "seconds", peers);
    peers.hbm_gigabytes = figures(root, "hbm_traffic", "gigabytes", peers);
    peers.peak_share = figures(root, "peak_share", "share", peers);
    peers.ablation_tflops = figures(root, "ablation", "tflops", peers);
    peers.fp8_error = figures(root, "fp8_error", "rms_error", peers);
    return peers;
  }

 private:
  [[noreturn]] void complain(const YAML::Node& at, const std::string& field,
                             const std::string& what) const {
    throw Error(ErrorCode::kInvalidArgument, field,
                fmt::format("{}:{}: {}: {}", file_name_, at.Mark().line + 1, field, what));
  }

  void require_map(const YAML::Node& node, const std::string& field, const YAML::Node& at) const {
    if (!node.IsMap()) complain(at, field, "is no map; write 'name: value' lines");
  }

  YAML::Node child(const YAML::Node& node, const std::string& name) const {
    require_map(node, name, node);
    const YAML::Node found = node[name];
    if (!found) complain(node, name, "is missing; add it");
    return found;
  }

  template <class Type>
  Type value(const YAML::Node& node, const std::string& name) const {
    return scalar<Type>(child(node, name), name);
  }

  template <class Type>
  Type scalar(const YAML::Node& node, const std::string& name) const {
    try {
      return node.as<Type>();
    } catch (const YAML::BadConversion&) {
      complain(node, name,
               fmt::format("'{}' does not do; give a {}", node.IsScalar() ? node.Scalar() : "list",
                           std::is_arithmetic_v<Type> ? "number" : "text"));
    }
  }

  double positive(const YAML::Node& node, const std::string& name) const {
    const double number = scalar<double>(node, name);
    if (!(number > 0)) complain(node, name, fmt::format("{} is not above 0", number));
    return number;
  }

  template <class Enum>
  Enum name_of(const YAML::Node& node, const std::string& field) const {
    const auto text = value<std::string>(node, field);
    const auto found = enum_value<Enum>(text);
    if (!found) complain(node, field, fmt::format("'{}' is none that heddle knows", text));
    return *found;
  }

  std::string source_of(const YAML::Node& node, const Peers& peers) const {
    auto source = value<std::string>(node, "source");
    if (peers.sources.count(source) == 0) {
      complain(node, "source", fmt::format("'{}' is not among sources; add it there", source));
    }
    return source;
  }

  YAML::Node list(const YAML::Node& node, const std::string& name) const {
    const YAML::Node found = child(node, name);
    if (!found.IsSequence()) complain(found, name, "is no list; write '- ' lines");
    return found;
  }

  /// At least one, and few enough for any tensor.
  int count(const YAML::Node& node, const std::string& name) const {
    const int number = value<int>(node, name);
    if (number < 1 || number > (1 << 24)) complain(node, name, "is not from 1 to 2^24");
    return number;
  }

  PeerSweep sweep(const YAML::Node& node, const Peers& peers) const {
    PeerSweep entry{value<std::string>(node, "peer"), source_of(node, peers),
                    name_of<DataType>(node, "dtype"), value<int>(node, "head_dim"),
                    name_of<MaskKind>(node, "mask"),  {}};
    for (const auto& cell : child(node, "tflops")) {
      entry.tflops[scalar<int>(cell.first, "tflops")] = positive(cell.second, "tflops");
    }
    return entry;
  }

  PeerDecode decode(const YAML::Node& node, const Peers& peers) const {
    PeerDecode entry{value<std::string>(node, "peer"), source_of(node, peers), {}};
    for (const auto& cell : list(node, "cells")) {
      const std::pair shape{count(cell, "batch"), count(cell, "keys")};
      entry.gbps[shape] = positive(child(cell, "gbps"), "gbps");
    }
    return entry;
  }

  std::vector<PeerFigure> figures(const YAML::Node& root, const std::string& name,
                                  const std::string& unit, const Peers& peers) const {
    std::vector<PeerFigure> entries;
    for (const auto& node : list(root, name)) {
      const YAML::Node number = child(node, unit);
      const bool is_range = number.IsSequence() && number.size() == 2;
      const double least = positive(is_range ? number[0] : number, unit);
      const double most = is_range ? positive(number[1], unit) : least;
      if (most < least) complain(number, unit, "the least comes first");
      entries.push_back({value<std::string>(node, "peer"), source_of(node, peers), least, most});
    }
    return entries;
  }

  std::string file_name_;
};

std::string built_in_text() {
  for (const EmbeddedTemplate& file : embedded_figures()) {
    if (file.name == "peers.yaml") return std::string(file.text);
  }
  throw Error(ErrorCode::kInternal, "peers.yaml", "peers.yaml is not embedded");
}

}  // namespace

std::optional<double> Peers::forward_tflops(const std::string& peer, const std::string& source,
                                            const Variant& variant, int length) const {
  for (const PeerSweep& entry : forward) {
    const bool matches = entry.peer == peer && entry.source == source &&
                         entry.dtype == variant.dtype && entry.head_dim == variant.head_dim &&
                         entry.mask == variant.mask;
    const auto cell = matches ? entry.tflops.find(length) : entry.tflops.end();
    if (cell != entry.tflops.end()) return cell->second;
  }
  return std::nullopt;
}

std::optional<double> Peers::decode_gbps(const std::string& peer, int batch, int keys) const {
  for (const PeerDecode& entry : decode) {
    if (entry.peer != peer) continue;
    const auto cell = entry.gbps.find({batch, keys});
    if (cell != entry.gbps.end()) return cell->second;
  }
  return std::nullopt;
}

std::vector<std::string> Peers::cited(const std::vector<std::string>& keys) const {
  std::vector<std::string> lines;
  for (const std::string& key : keys) {
    const auto found = sources.find(key);
    if (found == sources.end()) continue;  // a file of one's own need not have what is not compared
    const PeerSource& source = found->second;
    lines.push_back(fmt::format("{}: {}; {}; date: {}; {}", key, source.text, source.device,
                                source.date, source.method));
  }
  return lines;
}

const PeerFigure* find_figure(const std::vector<PeerFigure>& figures, const std::string& peer) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const PeerFigure& entry) { return entry.peer == peer; });
  return found == figures.end() ? nullptr : &*found;
}

Peers parse_peers(const std::string& text, const std::string& file_name) {
  try {
    return PeersReader(file_name).read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    throw Error(ErrorCode::kInvalidArgument, "peers",
                fmt::format("{}:{}: {}", file_name, error.mark.line + 1, error.msg));
  }
}

Peers load_peers(const std::string& file) {
  if (file.empty()) return parse_peers(built_in_text(), "peers.yaml");
  return parse_peers(read_text_file(file), file);
}

}  // namespace heddle
