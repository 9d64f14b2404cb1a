#include "cli/npy_header.hpp"

#include <charconv>
#include <set>
#include <string_view>

#include "generator/error.hpp"

namespace heddle {
namespace {

constexpr std::size_t kDataAlignment = 64;

/// A cursor over the dictionary; just the Python that NumPy writes: strings, True, False, tuples of
/// whole numbers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      entry(key);
      if (!accept(',') && !at('}')) fail("expected ',' or '}'");
    }
    skip_space();
    if (at_ < text_.size()) fail("unexpected text after '}'");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (!seen_.contains(key)) fail(std::string("no entry '") + key + "'");
    }
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kInvalidArgument,
                what + " at character " + std::to_string(at_) + " of the header");
  }

  void entry(const std::string& key) {
    if (!seen_.insert(key).second) fail("'" + key + "' is given twice");
    if (key == "descr") {
      header_.descr = quoted();
    } else if (key == "fortran_order") {
      header_.fortran_order = boolean();
    } else if (key == "shape") {
      header_.shape = tuple();
    } else {
      fail("unknown entry '" + key + "'");
    }
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool at(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    const bool found = at(c);
    if (found) ++at_;
    return found;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }
  bool accept(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string quoted() {
    const char quote = at('"') ? '"' : '\'';
    if (!accept(quote)) fail("expected a quoted string (structured types are not supported)");
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    if (accept(std::string_view("True"))) return true;
    if (accept(std::string_view("False"))) return false;
    fail("expected True or False");
  }

  std::vector<long long> tuple() {
    std::vector<long long> numbers;
    expect('(');
    while (!accept(')')) {
      skip_space();
      long long number = 0;
      const char* end = text_.data() + text_.size();
      const auto [after, error] = std::from_chars(text_.data() + at_, end, number);
      if (error != std::errc{} || number < 0) fail("expected a length of 0 or more");
      at_ = static_cast<std::size_t>(after - text_.data());
      accept('L');  // Python 2 wrote long integers so
      numbers.push_back(number);
      if (!accept(',') && !at(')')) fail("expected ',' or ')'");
    }
    return numbers;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::set<std::string> seen_;
  NpyHeader header_;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& text) {
  return HeaderParser(text).parse();
}

std::string format_npy_header(const NpyHeader& header) {
  std::string text = "{'descr': '" + header.descr +
                     "', 'fortran_order': " + (header.fortran_order ? "True" : "False") +
                     ", 'shape': (";
  for (const long long length : header.shape) text += std::to_string(length) + ", ";
  text += "), }";
  constexpr std::size_t kPrefix = 10;  // magic, two version bytes, 16-bit length
  while ((kPrefix + text.size() + 1) % kDataAlignment != 0) text += ' ';
  text += '\n';
  std::string result = "\x93NUMPY";
  result +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return result + text;
}

}  // namespace heddle
