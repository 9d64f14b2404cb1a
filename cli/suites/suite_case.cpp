#include "cli/suites/suite_case.hpp"

#include <fmt/format.h>

namespace heddle {

std::vector<std::string> failure_notes(const std::vector<SuiteCase>& cases,
                                       const std::vector<SuiteTiming>& timings) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (timings[i].measured()) continue;
    lines.push_back(fmt::format("not measured: {}, {}: {}", cases[i].label,
                                problem_words(cases[i].problem), timings[i].failure));
  }
  return lines;
}

std::string problem_words(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  const std::string heads =
      sizes.resolved_kv_heads() == sizes.heads
          ? fmt::format("{} heads", sizes.heads)
          : fmt::format("{} heads over {}", sizes.heads, sizes.resolved_kv_heads());
  const std::string lengths =
      sizes.seqlen_q == sizes.seqlen_kv
          ? fmt::format("length {}", sizes.seqlen_q)
          : fmt::format("{} queries, {} keys", sizes.seqlen_q, sizes.seqlen_kv);
  return fmt::format("batch {}, {}, {}, {} d {}, {}", sizes.batch, heads, lengths,
                     enum_name(problem.variant.dtype), problem.variant.head_dim,
                     enum_name(problem.variant.mask));
}

}  // namespace heddle
