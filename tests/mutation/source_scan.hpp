#pragma once
// The text of a template header as tokens, just well enough to change it by rule. It leans on the
// repository's formatting: binary operators stand between blanks, template brackets do not.

#include <string>
#include <string_view>
#include <vector>

namespace heddle::mutation {

enum class TokenKind { kName, kNumber, kOperator };

struct Token {
  TokenKind kind{};
  std::string_view text;  ///< of the masked text
  int begin = 0;          ///< offset in the file
  bool binary = false;    ///< an operator with blanks on both sides
  int partner = -1;  ///< of a bracket (template brackets too): the token that closes or opens it

  int end() const { return begin + static_cast<int>(text.size()); }
  bool is(std::string_view other) const { return text == other; }
};

/// A half-open range of tokens.
struct Span {
  int begin = 0;
  int end = 0;
  bool empty() const { return begin >= end; }
};

class SourceScan {
 public:
  explicit SourceScan(std::string text);
  SourceScan(const SourceScan&) = delete;
  SourceScan& operator=(const SourceScan&) = delete;

  const std::string& text() const { return text_; }
  /// The text with blanks for what no rule may touch: comments, strings, preprocessor lines and
  /// static_asserts.
  const std::string& masked() const { return masked_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  int size() const { return static_cast<int>(tokens_.size()); }
  /// Out of range: an empty token.
  const Token& at(int index) const;
  std::string text_of(const Span& span) const;
  int line_of(int offset) const;  ///< from 1

  /// The operand that ends before, or begins at, a token: a name with its qualifiers, calls,
  /// subscripts and members; a number; something in parentheses. Unary operators belong to it.
  Span primary_before(int index) const;
  Span primary_from(int index) const;
  /// The same with its factors: a product or quotient.
  Span term_before(int index) const;
  Span term_from(int index) const;
  /// A whole operand of the comparison at `index`.
  Span left_of_comparison(int index) const;
  Span right_of_comparison(int index) const;

  /// The name at `index` with what qualifies it: "parameters.key.row_stride".
  Span chain_of(int index) const;
  /// Whether the name at `index` is declared there, or assigned, rather than read.
  bool is_declared(int index) const;
  bool is_assigned(int index) const;
  /// Whether the token stands in the brackets that give a declared array its size.
  bool is_declared_size(int index) const;

 private:
  void mask();
  void tokenize();
  void pair_brackets();

  std::string text_;
  std::string masked_;
  std::vector<Token> tokens_;
};

}  // namespace heddle::mutation
