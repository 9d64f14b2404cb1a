#pragma once

#include <optional>
#include <string>

#include "cli/flags.hpp"
#include "cli/npy.hpp"

namespace CLI {
class App;
}

namespace heddle {

/// --q, --k, --v FILE.npy, the scales of e4m3 files, and how elements are to be read.
class NpyFlags {
 public:
  void add_to(CLI::App& app);
  bool given() const { return files_.any_given() || originals_.any_given() || !scales_.empty(); }
  /// The files' shapes and type, with mask, scale and the like from the problem flags.
  AttentionInput read(const ProblemFlags& problem) const;

  /// --original-q, --original-k, --original-v: what e4m3 files were made from.
  void add_originals_to(CLI::App& app);
  /// Their tensors and `quantised`'s problem in their type; nothing where none are given.
  std::optional<AttentionInput> read_originals(const Problem& quantised) const;

 private:
  NpyElements wide_elements() const { return bf16_ ? NpyElements::kBf16 : NpyElements::kFp16; }

  AttentionFiles files_;
  AttentionFiles originals_{.prefix = "original_"};
  ScaleFiles scales_;
  bool bf16_ = false;
};

}  // namespace heddle
