#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace heddle {

/// What is wrong with a text as XML without declarations, comments and processing instructions;
/// empty if nothing: every tag closed in order, attributes quoted, no stray '<' or '&'.
inline std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  const auto where = [&](std::size_t at) { return " at '" + text.substr(at, 60) + "'"; };
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == ':' || c == '_';
  };
  std::size_t at = 0;
  const auto name = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_name(text[at])) ++at;
    return text.substr(from, at - from);
  };
  bool had_root = false;
  while (at < text.size()) {
    if (text[at] == '&') {
      const std::size_t end = text.find(';', at);
      const std::string entity = end == std::string::npos ? "" : text.substr(at, end - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
        return "stray &" + where(at);
      }
      at = end + 1;
      continue;
    }
    if (text[at] != '<') {
      if (open.empty() && !std::isspace(static_cast<unsigned char>(text[at]))) {
        return "text outside the root" + where(at);
      }
      ++at;
      continue;
    }
    const std::size_t start = at++;
    if (at < text.size() && text[at] == '/') {
      ++at;
      const std::string closed = name();
      if (open.empty() || open.back() != closed) return "wrong closing tag" + where(start);
      open.pop_back();
      if (at >= text.size() || text[at] != '>') return "unfinished tag" + where(start);
      ++at;
      continue;
    }
    const std::string tag = name();
    if (tag.empty()) return "stray <" + where(start);
    if (open.empty() && had_root) return "a second root" + where(start);
    had_root = true;
    std::vector<std::string> attributes;
    for (;;) {
      const std::size_t before = at;
      while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
      if (at >= text.size()) return "unfinished tag" + where(start);
      if (text[at] == '>' || text.compare(at, 2, "/>") == 0) break;
      if (before == at) return "no space before an attribute" + where(start);
      const std::string attribute = name();
      for (const std::string& other : attributes) {
        if (other == attribute) return "attribute given twice" + where(start);
      }
      attributes.push_back(attribute);
      if (attribute.empty() || text.compare(at, 2, "=\"") != 0) {
        return "attribute without quotes" + where(start);
      }
      at += 2;
      const std::size_t end = text.find('"', at);
      if (end == std::string::npos) return "unfinished attribute" + where(start);
      const std::string value = text.substr(at, end - at);
      if (value.find('<') != std::string::npos) return "< in an attribute" + where(start);
      at = end + 1;
    }
    if (text[at] == '>') {
      open.push_back(tag);
      ++at;
    } else {
      at += 2;
    }
  }
  if (!open.empty()) return "unclosed " + open.back();
  return had_root ? "" : "no element at all";
}

}  // namespace heddle
