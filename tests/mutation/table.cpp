#include "tests/mutation/table.hpp"

#include <fmt/format.h>

namespace heddle::mutation {
namespace {

std::string text_row(const std::string& owner, const std::string& rule, const Counts& counts) {
  return fmt::format("{:<10} {:<8} {:>7} {:>9} {:>10} {:>6} {:>7} {:>7} {:>8} {:>6} {:>6.1f}\n",
                     owner, rule, counts.mutants, counts.stillborn, counts.equivalent,
                     counts.killed, counts.crashed, counts.out_of_time, counts.survived,
                     counts.known, counts.kill_rate());
}

std::string markdown_row(const std::string& name, const Counts& counts) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {:.1f} % |\n", name, counts.mutants,
                     counts.stillborn, counts.equivalent, counts.killed, counts.crashed,
                     counts.out_of_time, counts.survived + counts.known, counts.kill_rate());
}

/// Counts summed by one of the two names.
template <class Name>
std::string markdown_table(const Table::Rows& rows, const std::string& title, Name name) {
  std::map<std::string, Counts> sums;
  Counts total;
  for (const auto& [key, counts] : rows) {
    sums[name(key)].add(counts);
    total.add(counts);
  }
  std::string text =
      "| " + title +
      " | mutants | do not compile | equivalent | found | crash | out of time | survive | "
      "caught |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, counts] : sums) text += markdown_row(key, counts);
  return text + markdown_row("all", total);
}

}  // namespace

void Counts::add(const Counts& other) {
  mutants += other.mutants;
  stillborn += other.stillborn;
  equivalent += other.equivalent;
  known += other.known;
  survived += other.survived;
  killed += other.killed;
  crashed += other.crashed;
  out_of_time += other.out_of_time;
}

double Counts::kill_rate() const {
  const int could = caught() + survived + known;
  return could == 0 ? 100.0 : 100.0 * caught() / could;
}

Counts Table::total() const {
  Counts total;
  for (const auto& [key, counts] : rows_) total.add(counts);
  return total;
}

std::string Table::text() const {
  std::string text =
      fmt::format("{:<10} {:<8} {:>7} {:>9} {:>10} {:>6} {:>7} {:>7} {:>8} {:>6} {:>6}\n",
                  "headers of", "rule", "mutants", "stillborn", "equivalent", "killed", "crashed",
                  "endless", "survived", "listed", "%");
  for (const auto& [key, counts] : rows_) text += text_row(key.first, key.second, counts);
  return text + text_row("all", "", total());
}

std::string Table::markdown() const {
  return markdown_table(rows_, "headers of", [](const auto& key) { return key.first; }) + "\n" +
         markdown_table(rows_, "rule", [](const auto& key) { return key.second; });
}

}  // namespace heddle::mutation
