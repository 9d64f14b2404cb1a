#include "generator/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace heddle {
namespace {

constexpr std::string_view kInclude = "#include \"";

std::optional<std::string> included_name(std::string_view line) {
  if (!line.starts_with(kInclude)) return std::nullopt;
  const auto rest = line.substr(kInclude.size());
  return std::string(rest.substr(0, rest.find('"')));
}

template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    visit(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

class Inliner {
 public:
  explicit Inliner(const std::vector<SourceFile>& headers) : headers_(headers) {}

  void add(std::string_view text) {
    for_each_line(text, [&](std::string_view line) {
      if (const auto name = included_name(line)) return include(*name);
      if (line != "#pragma once") output_.append(line).append("\n");
    });
  }
  std::string take() { return std::move(output_); }

 private:
  void include(const std::string& name) {
    if (!seen_.insert(name).second) return;
    const auto found = std::find_if(headers_.begin(), headers_.end(),
                                    [&](const SourceFile& file) { return file.name == name; });
    if (found == headers_.end()) {
      throw Error(ErrorCode::kInternal, name, "no header named " + name + " to flatten");
    }
    add(found->text);
  }

  const std::vector<SourceFile>& headers_;
  std::set<std::string> seen_;
  std::string output_;
};

/// Where the literal that starts at `begin` ends (one past its closing quote).
std::size_t literal_end(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != text[begin]) at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

std::string without_comments(std::string_view text) {
  std::string output;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto rest = text.substr(at);
    if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      const auto end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
      output += ' ';
    } else if (text[at] == '"' ||
               (text[at] == '\'' &&
                (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))))) {
      const auto end = literal_end(text, at);
      output.append(text.substr(at, end - at));
      at = end;
    } else {
      output += text[at++];
    }
  }
  return output;
}

}  // namespace

std::vector<std::string> included_names(std::string_view text) {
  std::vector<std::string> names;
  for_each_line(text, [&](std::string_view line) {
    if (auto name = included_name(line)) names.push_back(std::move(*name));
  });
  return names;
}

std::string inline_includes(const SourceFile& main, const std::vector<SourceFile>& headers) {
  Inliner inliner(headers);
  inliner.add(main.text);
  return inliner.take();
}

std::string strip_comments(std::string_view text) {
  std::string output;
  const std::string bare = without_comments(text);
  for_each_line(bare, [&](std::string_view line) {
    const auto last = line.find_last_not_of(" \t");
    if (last != std::string_view::npos) output.append(line.substr(0, last + 1)).append("\n");
  });
  return output;
}

}  // namespace heddle
