#include "runtime/kernel_table.hpp"

#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernel_entry.hpp"

namespace heddle {
namespace {

KernelKey key_of(int number) {
  Problem problem;
  problem.sizes = {.batch = 1 << number % 8,
                   .heads = 8,
                   .seqlen_q = 16 << number / 8 % 8,
                   .seqlen_kv = 16 << number / 64 % 16};
  return kernel_key(problem, nullptr);
}

std::unique_ptr<KernelEntry> entry_of(const KernelKey& key) {
  auto entry = std::make_unique<KernelEntry>();
  entry->key = key;
  return entry;
}

TEST_CASE("a key differs in every field that a launch depends on") {
  Problem problem;
  problem.sizes = {.batch = 2, .heads = 8, .kv_heads = 4, .seqlen_q = 100, .seqlen_kv = 100};
  const KernelKey key = kernel_key(problem, nullptr);
  const auto differs = [&](auto change) {
    Problem other = problem;
    change(other);
    return kernel_key(other, nullptr) != key;
  };
  CHECK(differs([](Problem& p) { p.variant.dtype = DataType::kFp16; }));
  CHECK(differs([](Problem& p) { p.variant.head_dim = 64; }));
  CHECK(differs([](Problem& p) { p.variant.mask = MaskKind::kCausal; }));
  CHECK(differs([](Problem& p) { p.variant.alignment = 8; }));
  CHECK(differs([](Problem& p) { p.variant.output_dtype = DataType::kFp16; }));
  CHECK(differs([](Problem& p) { p.variant.scales = ScaleKind::kToken; }));
  CHECK(differs([](Problem& p) { p.variant.value_layout = ValueLayout::kTransposed; }));
  CHECK(differs([](Problem& p) { p.sizes.batch = 3; }));
  CHECK(differs([](Problem& p) { p.sizes.kv_heads = 2; }));
  CHECK(differs([](Problem& p) { p.sizes.seqlen_q = 129; }));
  CHECK(differs([](Problem& p) { p.sizes.seqlen_kv = 129; }));
  CHECK(differs([](Problem& p) { p.sizes.num_splits = 2; }));
  int elsewhere = 0;
  CHECK(kernel_key(problem, &elsewhere) != key);
  CHECK_FALSE(differs([](Problem& p) { p.sizes.seqlen_kv = 101; }));  // same bucket
  CHECK_FALSE(differs([](Problem& p) { p.sizes.scale = 2; }));
}

TEST_CASE("entries are found again after the table has grown") {
  KernelTable table;
  std::vector<const KernelEntry*> entries;
  for (int i = 0; i < 1000; ++i) {
    CHECK(table.find(key_of(i)) == nullptr);
    entries.push_back(&table.insert(entry_of(key_of(i))));
  }
  for (int i = 0; i < 1000; ++i) REQUIRE(table.find(key_of(i)) == entries[i]);
  CHECK(table.find(key_of(1001)) == nullptr);
}

TEST_CASE("a stale entry is not found, and its successor takes its place") {
  KernelTable table;
  const KernelEntry& old = table.insert(entry_of(key_of(1)));
  old.stale = true;
  CHECK(table.find(key_of(1)) == nullptr);
  const KernelEntry& successor = table.insert(entry_of(key_of(1)));
  CHECK(table.find(key_of(1)) == &successor);
  CHECK(old.key == key_of(1));  // a reader that held it may go on reading
}

TEST_CASE("readers see whole entries while a writer adds and grows") {
  KernelTable table;
  constexpr int kKeys = 1000;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done) {
      for (int i = 0; i < kKeys; ++i) {
        const KernelEntry* entry = table.find(key_of(i));
        if (entry != nullptr && !(entry->key == key_of(i))) ++wrong;
      }
    }
  });
  for (int i = 0; i < kKeys; ++i) table.insert(entry_of(key_of(i)));
  done = true;
  reader.join();
  CHECK(wrong == 0);
  for (int i = 0; i < kKeys; ++i) REQUIRE(table.find(key_of(i)) != nullptr);
}

}  // namespace
}  // namespace heddle
