// ptxas reports in the compiler's log, for each kernel (lines as NVRTC 13.0 prints them):
//   ptxas info    : Compiling entry function 'heddle_fa2_attention' for 'sm_90a'
//   ptxas info    : Function properties for heddle_fa2_attention
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 168 registers, used 1 barriers, 16 bytes smem
#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "runtime/compiler.hpp"

namespace heddle {
namespace {

constexpr std::string_view kEntryLine = "Compiling entry function '";
constexpr int kSpillLimit = 16;  // bytes per thread; below it measurement decides

/// The number that stands before `unit`, as in "8 bytes stack frame"; 0 if the line has none.
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

bool has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

/// "C75" and two digits: ptxas gave up on what makes the kernel fast.
bool has_performance_code(std::string_view line) {
  for (std::size_t at = line.find("C75"); at != std::string_view::npos;
       at = line.find("C75", at + 1)) {
    const std::string_view digits = line.substr(at + 3, 2);
    const bool word_start = at == 0 || std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0;
    const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (word_start && digits.size() == 2 && std::all_of(digits.begin(), digits.end(), digit)) {
      return true;
    }
  }
  return false;
}

/// Remarks that mean "right, but much slower". Some compilers print them without their code.
bool is_performance_remark(std::string_view line) {
  return has_performance_code(line) || has(line, "Potential Performance Loss") ||
         (has(line, "setmaxnreg") && has(line, "ignored"));
}

std::string_view trimmed(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  return line;
}

template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Adds what a line of the entry's own section says. Functions that were not inlined report under
/// the same entry: their spills cost the same threads, so they are summed.
void read_resources(std::string_view line, CompileNotes& notes) {
  notes.stack_bytes += number_before(line, " bytes stack frame");
  notes.spill_store_bytes += number_before(line, " bytes spill stores");
  notes.spill_load_bytes += number_before(line, " bytes spill loads");
  if (!has(line, "Used ")) return;
  notes.registers = number_before(line, " registers");
  notes.static_shared_bytes = number_before(line, " bytes smem");
}

}  // namespace

CompileNotes parse_compile_log(const std::string& log, const std::string& entry) {
  CompileNotes notes;
  const std::string wanted = std::string(kEntryLine) + entry + "'";
  bool inside = false;
  for_each_line(log, [&](std::string_view line) {
    if (has(line, kEntryLine)) inside = has(line, wanted);
    if (inside) read_resources(line, notes);
    if (!is_performance_remark(line)) return;
    if (!notes.remarks.empty()) notes.remarks += '\n';
    notes.remarks += line;
  });
  return notes;
}

std::optional<Rejection> reject_notes(const CompileNotes& notes) {
  std::optional<Rejection> rejection;
  for_each_line(notes.remarks, [&](std::string_view line) {
    if (rejection || !is_performance_remark(line)) return;
    rejection = Rejection{"compiler remark", std::string(line)};
  });
  if (rejection) return rejection;
  const int spill = std::max(notes.spill_store_bytes, notes.spill_load_bytes);
  if (spill <= kSpillLimit) return std::nullopt;
  return Rejection{"spill", std::to_string(spill) + " bytes of spill per thread, more than " +
                                std::to_string(kSpillLimit) +
                                "; registers in use: " + std::to_string(notes.registers)};
}

}  // namespace heddle
