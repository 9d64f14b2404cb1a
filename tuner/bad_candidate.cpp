#include "tuner/bad_candidate.hpp"

#include "generator/error.hpp"

namespace heddle {
namespace {

void replace(std::string& text, const std::string& old_text, const std::string& new_text) {
  const std::size_t found = text.find(old_text);
  if (found == std::string::npos) {
    throw Error(ErrorCode::kInternal, "", "an emitted kernel has no '" + old_text + "' to spoil");
  }
  text.replace(found, old_text.size(), new_text);
}

/// What the kernel's body becomes; `call` runs the real one on `parameters`.
std::string spoilt_body(BadKind kind, const std::string& call) {
  switch (kind) {
    case BadKind::kNeverWrites:
      return "";
    case BadKind::kSkipsLastTile:
      return "  heddle::AttentionParameters shorter = parameters;\n"
             "  if (shorter.seqlen_kv > 16) shorter.seqlen_kv -= 16;\n"
             "  {\n"
             "    const heddle::AttentionParameters& parameters = shorter;\n" +
             call + "  }\n";
    case BadKind::kWritesPastEnd:
      return call +
             "  const heddle::TensorView& o = parameters.output;\n"
             "  const long long end = (parameters.batch - 1) * o.batch_stride +\n"
             "                        (parameters.heads - 1) * o.head_stride +\n"
             "                        (parameters.seqlen_q - 1) * o.row_stride + "
             "Config::kHeadDim;\n"
             "  static_cast<unsigned short*>(o.data)[end] = 0;\n";
    case BadKind::kIllegalAddress:
      return call + "  *reinterpret_cast<volatile int*>(0x10) = 1;\n";
    case BadKind::kTrap:
    case BadKind::kEndsProcess:
      return call + "  asm volatile(\"trap;\");\n";
    case BadKind::kInfiniteLoop:
      // An empty loop over a volatile variable is compiled away.
      return call + "  for (;;) asm volatile(\"nanosleep.u32 1000;\");\n";
    case BadKind::kWrongLse:
    case BadKind::kTooMuchShared:
      return call;
    case BadKind::kCompilesForMinutes:
      return call + "  if (parameters.batch < 0) o_never<0, 0>(parameters.log_sum_exp);\n";
  }
  return call;
}

// Every level makes two functions of the one above: 2^24 of them at the end.
constexpr const char* kEndlessTemplate =
    "template <int kDepth, long kPath>\n"
    "__device__ void o_never(float* out) {\n"
    "  if constexpr (kDepth < 24) {\n"
    "    o_never<kDepth + 1, 2 * kPath>(out);\n"
    "    o_never<kDepth + 1, 2 * kPath + 1>(out);\n"
    "  } else {\n"
    "    out[kPath] += 1;\n"
    "  }\n"
    "}\n\n";

}  // namespace

void spoil(KernelSource& source, BadKind kind) {
  std::string& text = source.main.text;
  const std::string entry = "heddle_bad_" + std::string(enum_name(kind));
  replace(text, source.entry + "(", entry + "(");
  source.entry = entry;
  const std::size_t call_end = text.find("<Config>(parameters);\n");
  if (call_end == std::string::npos) {
    throw Error(ErrorCode::kInternal, "", "an emitted kernel has no body to spoil");
  }
  const std::size_t start = text.rfind('\n', call_end) + 1;
  const std::size_t length = text.find('\n', call_end) + 1 - start;
  text.replace(start, length, spoilt_body(kind, text.substr(start, length)));
  if (kind == BadKind::kWrongLse) {
    replace(text, "kScoreHook = false", "kScoreHook = true");
    replace(text, "return logit;", "return logit + Logit(0.693147180559945);");
  }
  if (kind == BadKind::kCompilesForMinutes) {
    const std::string kernel = "extern \"C\" __global__";
    replace(text, kernel, kEndlessTemplate + kernel);
  }
}

}  // namespace heddle
