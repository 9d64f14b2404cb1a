// Rules about what orders threads and copies: waits, fences, barriers, arrivals, commits, parities,
// stages.
#include "tests/mutation/rules.hpp"

namespace heddle::mutation {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool orders(std::string_view name) {
  for (const std::string_view word :
       {"wait", "fence", "barrier", "arrive", "commit", "release", "sync"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

/// The call whose name is at `index`, with template arguments; empty if it is none.
Span call_at(const SourceScan& source, int index) {
  int i = index + 1;
  if (source.at(i).is("<") && source.at(i).partner > i) i = source.at(i).partner + 1;
  if (!source.at(i).is("(") || source.at(i).partner < i) return {};
  return {source.chain_of(index).begin, source.at(i).partner + 1};
}

}  // namespace

/// Whole statements; and votes, which are a barrier and give a value: the thread's own remains.
void find_deleted_waits(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& name = source.at(i);
    if (name.kind != TokenKind::kName) continue;
    const Span call = call_at(source, i);
    if (call.empty()) continue;
    const Token& before = source.at(call.begin - 1);
    const Token& after = source.at(call.end);
    if (is_one_of(name.text, "sync_block_any warp_any warp_all") && !source.is_declared(i)) {
      replace_span(source, {call.begin, i + 1}, kRuleWait, "", edits);
      continue;
    }
    if (!orders(name.text)) continue;
    const bool begins = before.is(";") || before.is("{") || before.is("}") || before.is(")") ||
                        before.is(",") || before.is("else") || before.text.empty();
    if (begins && (after.is(";") || after.is(","))) {
      replace_span(source, call, kRuleWait, "(void)0", edits);
    }
  }
}

/// Each reading of what is called a parity or a phase.
void find_flipped_parities(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& name = source.at(i);
    if (name.kind != TokenKind::kName) continue;
    if (!contains(name.text, "parity") && !contains(name.text, "phase")) continue;
    const Token& after = source.at(i + 1);
    if (after.is("(") || after.is("[") || after.is(".") || after.is("::")) continue;
    if (source.is_declared(i)) continue;
    const Span chain = source.chain_of(i);
    if (source.is_assigned(i)) {
      // "parity ^= 1;" is the flip: without it.
      if (after.is("^=")) replace_span(source, {i + 1, i + 3}, kRuleParity, "^= 0", edits);
      continue;
    }
    replace_span(source, chain, kRuleParity, "(" + source.text_of(chain) + " ^ 1)", edits);
  }
}

/// Which stage, how many, how far ahead; and how many copies a wait leaves pending.
void find_shifted_stages(const SourceScan& source, Edits& edits) {
  for (int i = 0; i < source.size(); ++i) {
    const Token& name = source.at(i);
    const Token& after = source.at(i + 1);
    if (name.is("copy_async_wait") && source.at(i + 2).kind == TokenKind::kNumber &&
        source.at(i + 3).is(">")) {
      shift_span(source, {i + 2, i + 3}, kRuleStage, edits);
    }
    if (name.kind != TokenKind::kName) continue;
    const bool stage = contains(name.text, "stage") || contains(name.text, "Stage") ||
                       is_one_of(name.text, "kAhead ahead kPending kGroupsAhead kFa1Exchanges");
    if (!stage || after.is("(") || after.is("[") || after.is(".") || after.is("::") ||
        after.is("{") || after.is(":")) {
      continue;
    }
    // Beside a number: the index rule moves that.
    if (after.binary && source.at(i + 2).kind == TokenKind::kNumber &&
        (after.is("+") || after.is("-"))) {
      continue;
    }
    if (source.is_declared(i) || source.is_assigned(i)) continue;
    const Span chain = source.chain_of(i);
    if (!is_compared(source, chain) && !source.is_declared_size(i)) {
      shift_span(source, chain, kRuleStage, edits);
    }
  }
}

}  // namespace heddle::mutation
