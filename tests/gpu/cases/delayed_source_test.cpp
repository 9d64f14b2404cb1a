// The kernels with delays, as far as a machine without a GPU can judge them.
#include "tests/gpu/cases/delayed_source.hpp"

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "tests/runtime/real_nvrtc.hpp"

namespace heddle {
namespace {

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

/// Checked sums leave the delays no registers.
KernelConfig last_candidate(const Variant& variant, const DeviceLimits& limits, Family family) {
  auto configs = enumerate_candidates(variant, limits, family);
  std::erase_if(configs, [](const KernelConfig& config) {
    return config.running_max == RunningMax::kCheckedSum;
  });
  REQUIRE_FALSE(configs.empty());
  return configs.back();
}

TEST_CASE("C15 every family compiles with delays, and has them") {
  const auto nvrtc = real_nvrtc_or_skip();
  const DeviceLimits limits = find_architecture("sm_90a");
  const Variant variant{.head_dim = 128, .mask = MaskKind::kCausal};
  for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
    const KernelConfig config = last_candidate(variant, limits, family);
    for (const KernelPart part : kernel_parts(config)) {
      const KernelSource source = with_delays(emit(variant, config, part, limits));
      INFO(source.entry << " of " << full_text(config));
      const auto output = nvrtc->compile(source, compile_options(source.architecture));
      INFO(output.log);
      CHECK(output.status == 0);
      const CompileNotes notes = parse_compile_log(output.log, source.entry);
      CHECK(notes.registers > 0);
      CHECK_FALSE(reject_notes(notes));  // no spills, and fa3's multiplications are not serialised
      CHECK(count_of(output.ptx, "nanosleep") >= 1);
      const auto plain =
          nvrtc->compile(emit(variant, config, part, limits), compile_options(source.architecture));
      // Behind every barrier of the block one more.
      CHECK(count_of(output.ptx, "nanosleep") >=
            1 + count_of(plain.ptx, "nanosleep") + count_of(plain.ptx, "bar.sync \t0;"));
    }
  }
}

}  // namespace
}  // namespace heddle
