#include "generator/field.hpp"

#include <charconv>
#include <cmath>

namespace heddle {
namespace {

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  value = parsed;
  return true;
}

bool is_structure(char c) {
  return c == ',' || c == '=' || c == '%' || static_cast<unsigned char>(c) < 0x20;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(int value) {
  return std::to_string(value);
}
std::string value_text(long long value) {
  return std::to_string(value);
}

std::string value_text(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string value_text(const std::string& value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : value) {
    if (!is_structure(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

bool parse_value(std::string_view text, bool& value) {
  if (text == "true" || text == "1") return value = true;
  if (text != "false" && text != "0") return false;
  value = false;
  return true;
}

bool parse_value(std::string_view text, int& value) {
  return parse_number(text, value);
}
bool parse_value(std::string_view text, long long& value) {
  return parse_number(text, value);
}

bool parse_value(std::string_view text, double& value) {
  double parsed = 0;
  if (!parse_number(text, parsed) || !std::isfinite(parsed)) return false;
  value = parsed;
  return true;
}

bool parse_value(std::string_view text, std::string& value) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  value = std::move(decoded);
  return true;
}

}  // namespace heddle
