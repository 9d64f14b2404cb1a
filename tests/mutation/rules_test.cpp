// A few lines of text in, mutants out.
#include <algorithm>
#include <catch2/catch.hpp>

#include "generator/error.hpp"
#include "tests/mutation/known_list.hpp"
#include "tests/mutation/mutant.hpp"
#include "tests/mutation/table.hpp"

namespace heddle::mutation {
namespace {

/// The texts that a rule makes of one text.
std::vector<std::string> results(const std::string& text, std::string_view rule) {
  std::vector<std::string> found;
  for (const Mutant& mutant : make_mutants("part/x.cuh", text)) {
    if (mutant.rule == rule) found.push_back(mutant.apply(text));
  }
  std::sort(found.begin(), found.end());
  return found;
}

using Texts = std::vector<std::string>;

TEST_CASE("waits, commits and barriers are deleted as statements") {
  CHECK(results("{ copy_async_wait<kStages - 2>(); }", "wait") == Texts{"{ (void)0; }"});
  CHECK(results("{ copy_async_commit(); }", "wait") == Texts{"{ (void)0; }"});
  CHECK(results("if (wide) sync_warp();", "wait") == Texts{"if (wide) (void)0;"});
  CHECK(results("{ clear(x), sync_block(); }", "wait") == Texts{"{ clear(x), (void)0; }"});
  CHECK(results("{ Split::sync(); }", "wait") == Texts{"{ (void)0; }"});
  CHECK(results("{ barrier.arrive(1); fence_proxy(); }", "wait") ==
        Texts{"{ (void)0; fence_proxy(); }", "{ barrier.arrive(1); (void)0; }"});
}

TEST_CASE("a vote becomes the thread's own value") {
  CHECK(results("return sync_block_any(!done);", "wait") == Texts{"return (!done);"});
}

TEST_CASE("what defines, uses the value of, or only mentions a wait is left alone") {
  CHECK(results("static void sync() {}", "wait").empty());
  CHECK(results("const auto& tile = loader.wait_key();", "wait").empty());
  CHECK(results("// sync_block();\n#define X sync_block();\n", "wait").empty());
}

TEST_CASE("parities are flipped where they are read, and kept where they should flip") {
  CHECK(results("wait(full[stage], parity);", "parity") ==
        Texts{"wait(full[stage], (parity ^ 1));"});
  CHECK(results("if (last) parity ^= 1;", "parity") == Texts{"if (last) parity ^= 0;"});
  CHECK(results("wait(ring.phase_);", "parity") == Texts{"wait((ring.phase_ ^ 1));"});
  CHECK(results("int parity = 0;", "parity").empty());
}

TEST_CASE("bounds move by one; what only relaxes a comparison is that rule's") {
  CHECK(results("for (int i = 0; i < n; ++i) f();", "bound") ==
        Texts{"for (int i = -1; i < n; ++i) f();", "for (int i = 0; i < n - 1; ++i) f();",
              "for (int i = 1; i < n; ++i) f();"});
  CHECK(results("if (a >= b) return;", "bound") == Texts{"if (a >= b - 1) return;"});
  CHECK(results("f(s.query_length - q);", "bound") ==
        Texts{"f((s.query_length + 1) - q);", "f((s.query_length - 1) - q);"});
  CHECK(results("x = minimum(a, b);", "bound") ==
        Texts{"x = (minimum(a, b) + 1);", "x = (minimum(a, b) - 1);"});
  CHECK(results("range.end = a / b;", "bound") ==
        Texts{"range.end = (a / b + 1);", "range.end = (a / b - 1);"});
  CHECK(results("if (x > 1.5f) return;", "bound").empty());
}

TEST_CASE("a loop's bound moves by a step, an array does not grow") {
  CHECK(results("for (k = 0; k < kTileN; k += 16) f();", "bound").back() ==
        "for (k = 1; k < kTileN; k += 16) f();");
  CHECK(results("for (k = 0; k < kTileN; k += 16) f();", "bound")[1] ==
        "for (k = 0; k < kTileN - 16; k += 16) f();");
  CHECK(results("float sums[2 * kRows];", "index") == Texts{"float sums[1 * kRows];"});
  CHECK(results("Tile key[kStages];", "stage").empty());
}

TEST_CASE("a comparison is told from a template bracket") {
  CHECK(results("if (a < b) store<4>(x);", "compare") == Texts{"if (a <= b) store<4>(x);"});
  CHECK(results("if (a >= b && c) return;", "compare") == Texts{"if (a > b && c) return;"});
  CHECK(
      results("template <class A, int kB>\ninline void f(Tile<A, kB>& tile);", "compare").empty());
}

TEST_CASE("stages and pending counts move by one") {
  CHECK(results("return key[stage];", "stage") ==
        Texts{"return key[(stage + 1)];", "return key[(stage - 1)];"});
  CHECK(results("{ copy_async_wait<0>(); }", "stage") ==
        Texts{"{ copy_async_wait<-1>(); }", "{ copy_async_wait<1>(); }"});
  CHECK(results("f(int stage, x[stage_].key);", "stage") ==
        Texts{"f(int stage, x[(stage_ + 1)].key);", "f(int stage, x[(stage_ - 1)].key);"});
}

TEST_CASE("numbers beside operators, strides and offsets move by one") {
  CHECK(results("x = 2 * (lane() % 4);", "index") ==
        Texts{"x = 1 * (lane() % 4);", "x = 2 * (lane() % 3);", "x = 2 * (lane() % 5);",
              "x = 3 * (lane() % 4);"});
  CHECK(results("p += n * view.row_stride;", "index") ==
        Texts{"p += n * (view.row_stride + 1);", "p += n * (view.row_stride - 1);"});
  CHECK(results("x = y / 1;", "index") == Texts{"x = y / 2;"});
  CHECK(results("const int first_row = 0; f<4>(x);", "index").empty());
  CHECK(results("return 0x1p-23f * x;", "index").empty());
}

TEST_CASE("a factor becomes 1") {
  CHECK(results("x = y * scale_log2 + z;", "factor") == Texts{"x = y * 1.0f + z;"});
  CHECK(results("entry *= inverse_sums[row];", "factor") == Texts{"entry *= 1.0f;"});
  CHECK(results("x = s * fast_exp2(a - b);", "factor") == Texts{"x = s * 1.0f;"});
  CHECK(results("x = zero ? 0.0f : 1.0f / sum;", "factor") == Texts{"x = zero ? 0.0f : 1.0f;"});
  CHECK(results("void follow(float scale_log2);", "factor").empty());
}

TEST_CASE("neighbours change places") {
  CHECK(results("f(a, g(b, c), d);", "swap") ==
        Texts{"f(a, d, g(b, c));", "f(a, g(c, b), d);", "f(g(b, c), a, d);"});
  CHECK(results("x = a * b - c;", "swap") == Texts{"x = c - a * b;"});
  CHECK(results("x = a - b - c;", "swap") == Texts{"x = b - a - c;"});
  CHECK(results("x = p.q[i] / n;", "swap") == Texts{"x = n / p.q[i];"});
  CHECK(results("if (i + 1 < n && c) return;", "swap") == Texts{"if (n < i + 1 && c) return;"});
  CHECK(results("x = maximum(a, b);", "swap").empty());
  CHECK(results("inline int f(int a, const Tile& b) { return 0; }", "swap").empty());
}

TEST_CASE("static_asserts, comments and preprocessor lines have no mutants") {
  CHECK(make_mutants("part/x.cuh", "static_assert(a < b, \"a - b\");\n// a - b\n#if A - B\n")
            .empty());
}

TEST_CASE("a mutant's key does not change with the lines above, its name tells the line") {
  const std::string text = "if (a < b) f();\nif (a < b) f();  // again\n";
  const auto first = make_mutants("part/x.cuh", text);
  const auto moved = make_mutants("part/x.cuh", "// one more\n" + text);
  REQUIRE(first.size() == moved.size());
  CHECK(first.front().key() == moved.front().key());
  CHECK(first.front().key().ends_with("`if (a < b) f();` -> `if (b < a) f();` #1"));
  CHECK(first.front().name().starts_with("part/x.cuh:1 swap: "));
  CHECK(moved.front().name().starts_with("part/x.cuh:2 swap: "));
}

TEST_CASE("lists: patterns, then their reason") {
  const auto list = parse_known("# words\npart/x.cuh bound: *\npart/y.cuh *\n    Because.\n");
  REQUIRE(list.size() == 2);
  CHECK(list[0].reason == "Because.");
  CHECK(list[1].reason == "Because.");
  const auto mutants = make_mutants("part/x.cuh", "if (a > b) f();");
  CHECK(find_known(list, mutants.back()) != nullptr);
  CHECK(unmatched(list, mutants) == Texts{"part/y.cuh *"});
  CHECK_THROWS_AS(parse_known("part/x.cuh *\n"), Error);
  CHECK_THROWS_AS(parse_known("    Because.\n"), Error);
}

TEST_CASE("a star stands for any text") {
  CHECK(matches("a*c", "abbc"));
  CHECK(matches("a*", "a"));
  CHECK_FALSE(matches("a*c", "abb"));
  CHECK_FALSE(matches("a", "ab"));
}

TEST_CASE("the rate leaves out what cannot be caught") {
  Table table;
  Counts& counts = table.of("fa2", "bound");
  counts.mutants = 10, counts.stillborn = 2, counts.equivalent = 3, counts.killed = 1;
  counts.crashed = 2, counts.out_of_time = 1, counts.survived = 1;
  CHECK(table.total().kill_rate() == Approx(80));
  const std::string markdown = table.markdown();
  CHECK(markdown.find("| fa2 | 10 | 2 | 3 | 1 | 2 | 1 | 1 | 80.0 % |") != std::string::npos);
  CHECK(markdown.find("| bound | 10 | 2 | 3 | 1 | 2 | 1 | 1 | 80.0 % |") != std::string::npos);
}

}  // namespace
}  // namespace heddle::mutation
