#pragma once

#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace heddle {

/// Reads a text as XML without declarations, comments and processing instructions.
class XmlCheck {
 public:
  explicit XmlCheck(const std::string& text) : text_(text) {}

  /// What is wrong; empty if nothing: every tag closed in order, attributes quoted and given once,
  /// one root, no stray '<' or '&'.
  std::string fault() {
    while (fault_.empty() && at_ < text_.size()) {
      if (text_[at_] == '&') {
        entity();
      } else if (text_[at_] == '<') {
        tag();
      } else {
        if (open_.empty() && !is_space()) fail("text outside the root");
        ++at_;
      }
    }
    if (fault_.empty() && !open_.empty()) fault_ = "unclosed " + open_.back();
    if (fault_.empty() && !had_root_) fault_ = "no element at all";
    return fault_;
  }

 private:
  bool starts(const char* with) const {
    return text_.compare(at_, std::string(with).size(), with) == 0;
  }
  bool is_space() const {
    return at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]));
  }
  void fail(const std::string& what) {
    if (fault_.empty()) fault_ = what + " at '" + text_.substr(at_, 60) + "'";
  }

  std::string name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::string("-:_").find(text_[at_]) != std::string::npos)) {
      ++at_;
    }
    return text_.substr(from, at_ - from);
  }

  void entity() {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
      if (!starts(known)) continue;
      at_ += std::string(known).size();
      return;
    }
    fail("stray &");
  }

  void tag() {
    if (starts("</")) return closing_tag();
    ++at_;
    const std::string element = name();
    if (element.empty()) return fail("stray <");
    if (open_.empty() && had_root_) return fail("a second root");
    had_root_ = true;
    attributes();
    if (starts("/>")) {
      at_ += 2;
    } else if (starts(">")) {
      ++at_;
      open_.push_back(element);
    } else {
      fail("unfinished tag");
    }
  }

  void closing_tag() {
    at_ += 2;
    const std::string element = name();
    if (open_.empty() || open_.back() != element) return fail("wrong closing tag");
    open_.pop_back();
    if (!starts(">")) return fail("unfinished tag");
    ++at_;
  }

  void attributes() {
    std::set<std::string> given;
    while (fault_.empty() && is_space()) {
      while (is_space()) ++at_;
      const std::string attribute = name();
      if (attribute.empty()) return;  // the tag's end
      if (!given.insert(attribute).second) return fail("attribute given twice");
      if (!starts("=\"")) return fail("attribute without quotes");
      at_ += 2;
      const std::size_t end = text_.find('"', at_);
      if (end == std::string::npos) return fail("unfinished attribute");
      if (text_.substr(at_, end - at_).find('<') != std::string::npos) return fail("stray <");
      at_ = end + 1;
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  bool had_root_ = false;
  std::string fault_;
};

inline std::string xml_fault(const std::string& text) {
  return XmlCheck(text).fault();
}

}  // namespace heddle
