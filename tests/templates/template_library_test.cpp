// The embedded headers are those of the source tree.
#include "generator/template_library.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "generator/source_text.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_of_the_tree() {
  std::map<std::string, std::string> files;
  const fs::path root = HEDDLE_TEMPLATES_FOLDER;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    files[entry.path().lexically_relative(root).string()] = text.str();
  }
  return files;
}

TEST_CASE("Every file of templates/ is listed and embedded as it is") {
  const auto tree = files_of_the_tree();
  REQUIRE(tree.size() > 20);
  for (const auto& [name, text] : tree) {
    INFO(name);
    const auto embedded = find_template(name);
    REQUIRE(embedded.has_value());
    CHECK(*embedded == text);
  }
  CHECK(embedded_templates().size() == tree.size());
}

TEST_CASE("What a template includes is embedded too") {
  for (const EmbeddedTemplate& file : embedded_templates()) {
    for (const std::string& name : included_names(file.text)) {
      INFO(file.name << " includes " << name);
      CHECK(find_template(name).has_value());
    }
  }
}

TEST_CASE("An unknown template is none") {
  CHECK_FALSE(find_template("kernel/fa2").has_value());
  CHECK_FALSE(find_template("").has_value());
}

}  // namespace
}  // namespace heddle
