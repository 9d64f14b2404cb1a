#include "tests/mutation/source_scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace heddle::mutation {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Longest first.
constexpr std::array<std::string_view, 25> kOperators{
    "<<=", ">>=", "...", "->", "::", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=",  "^=",  "==",  "!=", "<=", ">=", "&&", "||", "<<", ">>", "[[", "]]"};

/// Words that end an operand as a comma does, or that stand before an expression.
bool is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kWords{"return", "case",    "else",
                                                          "do",     "typedef", "using"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool ends_operand(const Token& token) {
  static constexpr std::array<std::string_view, 20> kEnds{",",  ";",  "&&", "||", "?",  ":", "=",
                                                          "+=", "-=", "*=", "/=", "%=", "(", "[",
                                                          "{",  ")",  "]",  "}",  "==", "!="};
  return is_keyword(token.text) || std::find(kEnds.begin(), kEnds.end(), token.text) != kEnds.end();
}

bool opens(const Token& token) {
  return token.is("(") || token.is("[") || token.is("{") || (token.is("<") && !token.binary);
}
bool closes(const Token& token) {
  return token.is(")") || token.is("]") || token.is("}") || (token.is(">") && !token.binary);
}
bool is_multiplicative(const Token& token) {
  return token.binary && (token.is("*") || token.is("/") || token.is("%"));
}

/// A point, or the sign of a hexadecimal exponent: "0x1p-23f".
bool continues_number(std::string_view number, char next) {
  const bool exponent = number.starts_with("0x") && number.back() == 'p';
  return next == '.' || (exponent && (next == '-' || next == '+'));
}

}  // namespace

SourceScan::SourceScan(std::string text) : text_(std::move(text)), masked_(text_) {
  mask();
  tokenize();
  pair_brackets();
}

const Token& SourceScan::at(int index) const {
  static const Token none;
  return index >= 0 && index < size() ? tokens_[static_cast<std::size_t>(index)] : none;
}

std::string SourceScan::text_of(const Span& span) const {
  if (span.empty()) return {};
  const int begin = at(span.begin).begin;
  return text_.substr(static_cast<std::size_t>(begin),
                      static_cast<std::size_t>(at(span.end - 1).end() - begin));
}

int SourceScan::line_of(int offset) const {
  return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + offset, '\n'));
}

/// Comments, strings, preprocessor lines and static_asserts.
void SourceScan::mask() {
  const auto blank = [this](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, masked_.size()); ++i) {
      if (masked_[i] != '\n') masked_[i] = ' ';
    }
  };
  const auto after = [this](std::string_view what, std::size_t from) {
    const std::size_t found = text_.find(what, from);
    return found == std::string::npos ? text_.size() : found + what.size();
  };
  bool line_start = true;
  for (std::size_t i = 0; i < text_.size();) {
    std::size_t end = i;
    if (text_.compare(i, 2, "//") == 0 || (line_start && text_[i] == '#')) end = after("\n", i);
    if (text_.compare(i, 2, "/*") == 0) end = after("*/", i + 2);
    if (text_[i] == '"') end = after("\"", i + 1);
    if (text_.compare(i, 14, "static_assert(") == 0) end = after(";", i);
    if (end > i) {
      blank(i, end);
      line_start = text_[end - 1] == '\n';
      i = end;
      continue;
    }
    line_start = text_[i] == '\n' || (line_start && is_blank(text_[i]));
    ++i;
  }
}

void SourceScan::tokenize() {
  const std::string_view all = masked_;
  for (std::size_t i = 0; i < all.size();) {
    if (is_blank(all[i])) {
      ++i;
      continue;
    }
    std::size_t length = 1;
    TokenKind kind = TokenKind::kOperator;
    if (is_word(all[i])) {
      const bool number = std::isdigit(static_cast<unsigned char>(all[i])) != 0;
      kind = number ? TokenKind::kNumber : TokenKind::kName;
      while (i + length < all.size() &&
             (is_word(all[i + length]) ||
              (number && continues_number(all.substr(i, length), all[i + length])))) {
        ++length;
      }
    } else {
      for (const std::string_view candidate : kOperators) {
        if (all.substr(i, candidate.size()) != candidate) continue;
        length = candidate.size();
        break;
      }
    }
    const auto blank_at = [&](std::size_t at) { return at >= all.size() || is_blank(all[at]); };
    bool binary = kind == TokenKind::kOperator && i > 0 && blank_at(i - 1) && blank_at(i + length);
    if (!binary && (all.substr(i, length) == ">>" || all.substr(i, length) == "[[" ||
                    all.substr(i, length) == "]]")) {
      length = 1;  // two brackets
    }
    tokens_.push_back({kind, all.substr(i, length), static_cast<int>(i), binary, -1});
    i += length;
  }
}

void SourceScan::pair_brackets() {
  std::vector<int> open;
  for (int i = 0; i < size(); ++i) {
    if (opens(at(i))) open.push_back(i);
    if (!closes(at(i)) || open.empty()) continue;
    tokens_[static_cast<std::size_t>(i)].partner = open.back();
    tokens_[static_cast<std::size_t>(open.back())].partner = i;
    open.pop_back();
  }
}

Span SourceScan::primary_before(int index) const {
  int i = index;
  while (i > 0) {
    const Token& last = at(i - 1);
    if (closes(last) && last.partner >= 0) {
      i = last.partner;
      const Token& before = at(i - 1);
      const bool continues = before.kind == TokenKind::kName || closes(before);
      if (continues && !is_keyword(before.text)) continue;
      break;
    }
    if (last.kind == TokenKind::kOperator) break;
    --i;
    const Token& link = at(i - 1);
    if (!link.is("::") && !link.is(".") && !link.is("->")) break;
    --i;
  }
  const Token& sign = at(i - 1);
  if (i < index && sign.kind == TokenKind::kOperator && !sign.binary &&
      (sign.is("-") || sign.is("!") || sign.is("*") || sign.is("&"))) {
    --i;
  }
  return {i, index};
}

Span SourceScan::primary_from(int index) const {
  int i = index;
  while (at(i).is("-") || at(i).is("!") || at(i).is("*") || at(i).is("&")) ++i;
  if (!opens(at(i)) && at(i).kind == TokenKind::kOperator) return {index, index};
  i = opens(at(i)) ? at(i).partner + 1 : i + 1;
  while (i < size()) {
    if (at(i).is("::") || at(i).is(".") || at(i).is("->")) {
      i += 2;
    } else if (opens(at(i)) && at(i).partner > i && !(at(i).is("{") && at(i - 1).is(")"))) {
      i = at(i).partner + 1;
    } else {
      break;
    }
  }
  return {index, std::min(i, size())};
}

Span SourceScan::term_before(int index) const {
  Span term = primary_before(index);
  while (!term.empty() && is_multiplicative(at(term.begin - 1))) {
    const Span more = primary_before(term.begin - 1);
    if (more.empty()) break;
    term.begin = more.begin;
  }
  return term;
}

Span SourceScan::term_from(int index) const {
  Span term = primary_from(index);
  while (!term.empty() && is_multiplicative(at(term.end))) {
    const Span more = primary_from(term.end + 1);
    if (more.empty()) break;
    term.end = more.end;
  }
  return term;
}

Span SourceScan::left_of_comparison(int index) const {
  int i = index;
  while (i > 0) {
    const Token& token = at(i - 1);
    if (closes(token) && token.partner >= 0 && !token.is("}")) {
      i = token.partner;
    } else if (ends_operand(token)) {
      break;
    } else {
      --i;
    }
  }
  return {i, index};
}

Span SourceScan::right_of_comparison(int index) const {
  int i = index + 1;
  while (i < size()) {
    if (opens(at(i)) && at(i).partner > i) {
      i = at(i).partner + 1;
    } else if (ends_operand(at(i))) {
      break;
    } else {
      ++i;
    }
  }
  return {index + 1, i};
}

Span SourceScan::chain_of(int index) const {
  int begin = index;
  while (at(begin - 1).is("::") || at(begin - 1).is(".") || at(begin - 1).is("->")) {
    const Span before = primary_before(begin - 1);
    if (before.empty()) break;
    begin = before.begin;
    if (at(begin).kind == TokenKind::kOperator && !opens(at(begin))) ++begin;  // a unary operator
  }
  return {begin, index + 1};
}

bool SourceScan::is_declared(int index) const {
  const Token& before = at(chain_of(index).begin - 1);
  if (before.kind == TokenKind::kName) return !is_keyword(before.text);
  if (before.is(">") && !before.binary) return true;
  if (before.is("...")) return true;
  // "Tile& tile": the operator touches the type, not the name.
  const bool touches_type = (before.is("&") || before.is("*") || before.is("&&")) &&
                            !before.binary && before.begin > 0 &&
                            !is_blank(text_[static_cast<std::size_t>(before.begin - 1)]) &&
                            is_blank(text_[static_cast<std::size_t>(before.end())]);
  return touches_type;
}

bool SourceScan::is_declared_size(int index) const {
  int open = index;
  while (open > 0 && !at(open).is("[") && !at(open).is(";")) {
    const bool closed = at(open).partner >= 0 && at(open).partner < open;
    open = closed ? at(open).partner - 1 : open - 1;
  }
  while (at(open).is("[") && at(open - 1).is("]")) open = at(open - 1).partner;
  if (!at(open).is("[") || at(open - 1).kind != TokenKind::kName) return false;
  return is_declared(open - 1);
}

bool SourceScan::is_assigned(int index) const {
  static constexpr std::array<std::string_view, 9> kAssignments{
      "=", "+=", "-=", "*=", "/=", "%=", "^=", "++", "--"};
  int end = index + 1;
  while (at(end).is("[")) end = at(end).partner + 1;
  const auto assigns = [](const Token& token) {
    return std::find(kAssignments.begin(), kAssignments.end(), token.text) != kAssignments.end();
  };
  const Token& before = at(chain_of(index).begin - 1);
  return assigns(at(end)) || before.is("++") || before.is("--");
}

}  // namespace heddle::mutation
