// Votes, shuffles, barriers, atomics.
#include <algorithm>

#include "tests/gpu/twin_case.hpp"

namespace heddle {
namespace {

using Words = std::vector<std::uint32_t>;

TwinCase make(std::string name, std::string file, int threads, std::size_t output_words) {
  TwinCase twin;
  twin.name = std::move(name);
  twin.file = std::move(file);
  twin.entry = twin.name;
  twin.threads = threads;
  twin.output_bytes = 4 * output_words;
  twin.shared_bytes = 1024;
  twin.input = random_bytes(4096, static_cast<unsigned>(twin.name.size()) + 11);
  return twin;
}

Bytes expect_votes(const Bytes& input) {
  const Words words = values_of<std::uint32_t>(input);
  std::uint32_t result = 0;
  for (int i = 0; i < 8; ++i) {
    const auto set = [&](std::uint32_t word) { return (word >> (4 * i) & 15u) != 0; };
    if (std::any_of(words.begin(), words.begin() + 32, set)) result |= 1u << (2 * i);
    if (std::all_of(words.begin(), words.begin() + 32, set)) result |= 2u << (2 * i);
  }
  return bytes_of(Words(32, result));
}

Bytes expect_shuffles(const Bytes& input, int mask) {
  const Words words = values_of<std::uint32_t>(input);
  Words out;
  for (int lane = 0; lane < 32; ++lane) {
    const auto other = static_cast<std::size_t>(lane ^ mask);
    const double number = static_cast<std::int32_t>(words[32 + other]);
    out.push_back(words[other]);
    out.push_back(words[static_cast<std::size_t>(mask)]);
    out.push_back(words[static_cast<std::size_t>((lane * 7 + mask) % 32)]);
    out.push_back(static_cast<std::uint32_t>(static_cast<std::int32_t>(number * 0.5)));
    out.push_back(words[other]);
    out.push_back(words[static_cast<std::size_t>(31 - mask)]);
  }
  return bytes_of(out);
}

Bytes expect_elected(const Bytes& input) {
  Words out;
  for (int lane = 0; lane < 32; ++lane) {
    out.insert(out.end(), {1u, 1u, values_of<std::uint32_t>(input)[0]});
  }
  return bytes_of(out);
}

Bytes expect_block_any(const Bytes& input) {
  std::uint32_t any = 0;
  const Words words = values_of<std::uint32_t>(input);
  for (int i = 0; i < 96; ++i) any |= words[static_cast<std::size_t>(i)];
  return bytes_of(Words(96, any));
}

Bytes expect_teams(const Bytes& input) {
  const Words words = values_of<std::uint32_t>(input);
  Words out;
  for (int i = 0; i < 4 * 64; ++i) {
    out.push_back(words[static_cast<std::size_t>(32 * (i / 64) + 31 - i % 32)]);
  }
  return bytes_of(out);
}

Bytes expect_grid(unsigned blocks) {
  Words out;
  for (unsigned i = 0; i < 32 * blocks; ++i) out.insert(out.end(), {i / 32, blocks});
  return bytes_of(out);
}

Bytes expect_turns(const Bytes& input) {
  const Words words = values_of<std::uint32_t>(input);
  Words out;
  for (unsigned i = 0; i < 16 * 32; ++i) out.push_back(words[i / 32] + ((i % 32) ^ 1u));
  return bytes_of(out);
}

Bytes expect_atomics(const Bytes& input) {
  const Words words = values_of<std::uint32_t>(input);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 64; ++i) sum += words[i];
  // The output begins as zeros; the exchange puts 7, 5 is added to it.
  return bytes_of(Words{sum, 3 * 64, 12, 11, 0, 7, 7, 64 % 50});
}

}  // namespace

void add_warp_cases(std::vector<TwinCase>& cases) {
  TwinCase votes = make("votes", "warp.cu", 32, 32);
  for (std::size_t i = 0; i < 128; i += 2) votes.input[i] = i % 4 == 0 ? 0xf0 : 0x0f;
  votes.expect = expect_votes;
  cases.push_back(votes);
  for (const int mask : {1, 2, 5, 16, 31}) {
    TwinCase twin = make("shuffles", "warp.cu", 32, 6 * 32);
    twin.number = mask;
    twin.expect = [mask](const Bytes& input) { return expect_shuffles(input, mask); };
    cases.push_back(twin);
  }
  TwinCase elected = make("elected", "warp.cu", 32, 96);
  elected.expect = expect_elected;
  cases.push_back(elected);
  TwinCase any = make("block_any", "warp.cu", 96, 96);
  for (auto& byte : any.input) byte = static_cast<unsigned char>(byte & byte >> 4 & byte >> 2);
  any.expect = expect_block_any;
  cases.push_back(any);
  TwinCase teams = make("teams", "warp.cu", 96, 4 * 64);
  teams.expect = expect_teams;
  cases.push_back(teams);
  TwinCase registers = make("registers", "warp.cu", 384, 384);
  registers.expect = [](const Bytes& input) {
    Words words = values_of<std::uint32_t>(input);
    words.resize(384);
    for (auto& word : words) ++word;
    return bytes_of(words);
  };
  cases.push_back(registers);
  for (const int blocks : {1, 5}) {
    TwinCase grid = make("grid", "warp.cu", 32, 64 * static_cast<std::size_t>(blocks));
    grid.blocks = blocks;
    grid.expect = [blocks](const Bytes&) { return expect_grid(static_cast<unsigned>(blocks)); };
    cases.push_back(grid);
  }
  TwinCase phases = make("phases", "barriers.cu", 32, 7);
  phases.expect = [](const Bytes& input) { return bytes_of(Words{2, 2, 1, 1, 2, 1, input[77]}); };
  cases.push_back(phases);
  TwinCase turns = make("turns", "barriers.cu", 64, 16 * 32);
  turns.expect = expect_turns;
  cases.push_back(turns);
  TwinCase atomics = make("atomics", "barriers.cu", 64, 8);
  atomics.expect = expect_atomics;
  cases.push_back(atomics);
}

}  // namespace heddle
