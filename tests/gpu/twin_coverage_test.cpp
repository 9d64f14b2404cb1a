// Whether the twin cases reach the whole instruction layer.
#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/gpu/twin_case.hpp"

namespace heddle {
namespace {

using Names = std::set<std::string>;

/// What the one group of `pattern` matches in texts whose name begins with `folder`.
Names matches(std::span<const EmbeddedTemplate> files, std::string_view folder,
              const std::string& pattern) {
  const std::regex expression(pattern, std::regex::ECMAScript | std::regex::multiline);
  Names names;
  for (const EmbeddedTemplate& file : files) {
    if (!file.name.starts_with(folder)) continue;
    const std::string text(file.text);
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
         ++match) {
      names.insert((*match)[1]);
    }
  }
  return names;
}

Names without(const Names& all, const Names& removed) {
  Names rest;
  std::set_difference(all.begin(), all.end(), removed.begin(), removed.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

}  // namespace

TEST_CASE("every function of the instruction layer is called by a twin kernel") {
  // At the left margin: `inline bool warp_any(`, `inline E4M3 from_float<E4M3>(`.
  const Names functions = matches(embedded_templates(), "instruction/",
                                  R"(^(?:inline|constexpr) [^=(;]*?([a-z_0-9]+)(?:<[^(]*>)?\()");
  CHECK(functions.count("block_count") == 1);
  CHECK(functions.count("from_float") == 1);
  const Names called = matches(embedded_twins(), "gpu/twins/", R"(heddle::([a-z_0-9]+))");
  // Helpers of the layer itself, which the host has no need of.
  CHECK(without(functions, called) == Names{"pin", "shared_address"});
}

TEST_CASE("every twin kernel is run by a case") {
  Names entries;
  for (const TwinCase& twin : twin_cases()) entries.insert(twin.entry);
  const auto twins = embedded_twins();
  Names kernels = matches(twins, "gpu/twins/", R"(^KERNEL\(([a-z_0-9]+))");
  kernels.merge(matches(twins, "gpu/twins/", R"(([a-z_0-9]+)\(const __grid_constant__)"));
  kernels.erase("name");  // of the macro
  CHECK(kernels.count("grid") == 1);
  CHECK(kernels.count("registers") == 1);
  CHECK(without(kernels, entries).empty());
}

}  // namespace heddle
