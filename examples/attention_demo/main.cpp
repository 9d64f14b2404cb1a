// Causal grouped-query attention in bf16 on a GPU with heddle, checked against a plain loop.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <heddle/heddle.hpp>
#include <random>
#include <vector>

#include "cuda.hpp"

namespace {

constexpr int kHeads = 8, kKeyHeads = 2, kLength = 1000, kHeadDim = 128;

float to_float(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::vector<std::uint16_t> random_tensor(std::size_t count) {
  static std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> tensor(count);
  for (std::uint16_t& element : tensor) {
    const float value = normal(generator);
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    element = static_cast<std::uint16_t>(bits >> 16);  // bf16 = the upper half of a float
  }
  return tensor;
}

// Output row `row` of query head `head`: softmax(q K^T / sqrt(d)) V over the keys up to the row.
std::vector<double> plain_loop(const std::uint16_t* q, const std::uint16_t* k,
                               const std::uint16_t* v, int head, int row) {
  const std::size_t plane = std::size_t{kLength} * kHeadDim;
  const int key_head = head / (kHeads / kKeyHeads);
  q += head * plane + std::size_t(row) * kHeadDim;
  k += key_head * plane;
  v += key_head * plane;
  std::vector<double> output(kHeadDim);
  double sum = 0;
  for (int key = 0; key <= row; ++key, k += kHeadDim, v += kHeadDim) {
    double score = 0;
    for (int d = 0; d < kHeadDim; ++d) score += double(to_float(q[d])) * to_float(k[d]);
    const double weight = std::exp(score / std::sqrt(double(kHeadDim)));
    sum += weight;
    for (int d = 0; d < kHeadDim; ++d) output[d] += weight * to_float(v[d]);
  }
  for (double& element : output) element /= sum;
  return output;
}

int fail(const heddle::Status& status) {
  std::fprintf(stderr, "%s: %s\n", status.name(), status.message().c_str());
  return status.code() == HEDDLE_DRIVER_MISSING || status.code() == HEDDLE_DEVICE_MISSING ? 3 : 1;
}

}  // namespace

int main() {
  auto heddle = heddle::Context::create();
  if (!heddle) return fail(heddle.status());
  Cuda cuda;
  if (!cuda.start()) return 3;

  heddle::Problem problem;  // every field starts at its default
  problem.batch = 1;
  problem.heads = kHeads;
  problem.kv_heads = kKeyHeads;
  problem.seqlen_q = problem.seqlen_kv = kLength;
  problem.head_dim = kHeadDim;
  problem.mask = HEDDLE_CAUSAL;

  const auto q = random_tensor(std::size_t{kHeads} * kLength * kHeadDim);
  const auto k = random_tensor(std::size_t{kKeyHeads} * kLength * kHeadDim);
  const auto v = random_tensor(k.size());
  std::vector<std::uint16_t> o(q.size());
  const auto on_device = [&](const void* host, std::size_t bytes) {
    unsigned long long pointer = 0;
    if (cuda.allocate(&pointer, bytes) == 0 && host != nullptr) cuda.upload(pointer, host, bytes);
    return reinterpret_cast<void*>(pointer);
  };

  // Compiles the kernel, or takes it from the cache; later launches find it ready.
  std::vector<heddle::PrepareResult> prepared;
  if (auto status = heddle->prepare({problem}, &prepared); !status) return fail(status);
  std::printf("kernel ready after %.1f ms\n", prepared[0].milliseconds);

  heddle::Arguments arguments;
  arguments.query = on_device(q.data(), q.size() * 2);
  arguments.key = on_device(k.data(), k.size() * 2);
  arguments.value = on_device(v.data(), v.size() * 2);
  arguments.output = on_device(nullptr, o.size() * 2);
  const auto bytes = heddle->workspace_bytes(problem, &arguments);
  if (!bytes) return fail(bytes.status());
  arguments.workspace_bytes = *bytes;
  if (*bytes > 0) arguments.workspace = on_device(nullptr, *bytes);

  if (auto status = heddle->launch(problem, arguments); !status) return fail(status);
  cuda.synchronize();
  cuda.download(o.data(), reinterpret_cast<unsigned long long>(arguments.output), o.size() * 2);

  double worst = 0;
  bool right = true;
  for (const int row : {0, 1, 500, kLength - 1}) {
    const auto expected = plain_loop(q.data(), k.data(), v.data(), 5, row);
    const std::uint16_t* got = o.data() + (std::size_t{5} * kLength + row) * kHeadDim;
    for (int d = 0; d < kHeadDim; ++d) {
      const double error = std::abs(to_float(got[d]) - expected[d]);
      right = right && error < 0.02;  // false for a NaN
      worst = std::fmax(worst, error);
    }
  }
  std::printf("%s: largest error of the rows checked %.2g\n", right ? "right" : "WRONG", worst);
  return right ? 0 : 1;
}
