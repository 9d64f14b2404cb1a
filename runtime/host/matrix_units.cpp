#include "runtime/host/matrix_units.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/host/device/host_round.cuh"
#include "runtime/host/matrix_operand.hpp"
#include "runtime/host/product_slice.hpp"
#include "runtime/host/product_sum.hpp"
#include "templates/wgmma_fragment.cuh"

namespace heddle {
namespace {

constexpr int kWarpSize = 32;

/// What registers hold while a product owns them: a NaN as any pair of 16-bit elements, and as fp32
/// a signaling one, which arithmetic turns into another.
constexpr unsigned kHeldPattern = 0xffadffedu;

bool untouched(const unsigned* first, std::size_t count) {
  return std::all_of(first, first + count, [](unsigned value) { return value == kHeldPattern; });
}

OperandSlice slice_a(const host::MatrixProduct& product, int warp) {
  return {product.a_descriptor, product.a_transposed, kSliceRows * (warp % 4), kSliceRows};
}
OperandSlice slice_b(const host::MatrixProduct& product) {
  return {product.b_descriptor, product.b_transposed, 0, product.columns};
}

}  // namespace

void MatrixUnits::begin_block(int warps) {
  warps_.clear();
  warps_.resize(static_cast<std::size_t>(warps));
}

void MatrixUnits::report(const Issue& issue, int lane, std::string text, const void* other) {
  Access access;
  access.actor = kWarpSize * issue.warp + lane;
  access.where = issue.where;
  check_.note(access, FaultKind::kOperandInFlight, std::move(text), other);
}

void MatrixUnits::settle(Lane& lane, const unsigned* first, std::vector<unsigned> values) {
  auto& settled = lane.settled;
  const auto end = first + values.size();
  // What is named anew replaces whatever it overlaps.
  std::erase_if(settled, [&](const Settled& entry) {
    return entry.first < end && first < entry.first + entry.values.size();
  });
  settled.push_back({first, std::move(values)});
}

void MatrixUnits::fence(const Issue& issue) {
  Warp& warp = warps_[static_cast<std::size_t>(issue.warp)];
  if (warp.lanes.empty()) warp.lanes.resize(kWarpSize);
  warp.fenced = true;
  for (std::size_t i = 0; i < kWarpSize; ++i) {
    const host::WarpCall& call = *issue.lanes[i];
    for (int range = 0; range < call.register_ranges; ++range) {
      const host::RegisterRange& named = call.registers[range];
      settle(warp.lanes[i], named.first, {named.first, named.first + named.count});
    }
  }
}

void MatrixUnits::check_settled(const Issue& issue, int lane, const unsigned* first, int count) {
  const auto& settled =
      warps_[static_cast<std::size_t>(issue.warp)].lanes[static_cast<std::size_t>(lane)].settled;
  const bool same = std::any_of(settled.begin(), settled.end(), [&](const Settled& entry) {
    const auto offset = first - entry.first;
    return first >= entry.first &&
           offset + count <= static_cast<std::ptrdiff_t>(entry.values.size()) &&
           std::equal(first, first + count, entry.values.begin() + offset);
  });
  if (same) return;
  report(issue, lane,
         "a product reads registers that were written since the last wgmma_fence(), or that it did "
         "not name");
}

/// Takes registers of a lane for the product being issued. `reads`: what they hold now matters.
MatrixUnits::Held& MatrixUnits::hold(const Issue& issue, int lane_index, unsigned* first, int count,
                                     bool reads) {
  Warp& warp = warps_[static_cast<std::size_t>(issue.warp)];
  auto& held = warp.lanes[static_cast<std::size_t>(lane_index)].held;
  const auto known = std::find_if(held.begin(), held.end(),
                                  [&](const Held& entry) { return entry.first == first; });
  if (known == held.end()) {
    if (reads) check_settled(issue, lane_index, first, count);
    held.push_back({first, {first, first + count}, warp.issued, issue.where});
    std::fill_n(first, count, kHeldPattern);
    return held.back();
  }
  if (!untouched(first, known->values.size())) {
    report(issue, lane_index, "registers of a product were written before wgmma_wait()",
           known->where);
    std::fill_n(first, known->values.size(), kHeldPattern);
  }
  known->product = warp.issued;
  known->where = issue.where;
  return *known;
}

bool MatrixUnits::check_operand(const Issue& issue, const std::vector<unsigned>& chunks) {
  Warp& warp = warps_[static_cast<std::size_t>(issue.warp)];
  const Clocks& clocks = check_.clocks();
  const int first = kWarpSize * issue.warp;
  // A product belongs to the whole warp: what each of its threads knows counts.
  ClockVector known(clocks.row(first).begin(), clocks.row(first).end());
  ClockVector fenced(clocks.fenced(first).begin(), clocks.fenced(first).end());
  const auto meet = [](ClockVector& into, std::span<const Clock> from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::min(into[i], from[i]);
  };
  for (int lane = first + 1; lane < first + kWarpSize; ++lane) {
    meet(known, clocks.row(lane));
    meet(fenced, clocks.fenced(lane));
  }
  AsyncAccess access;
  access.known = known;
  access.fenced = fenced;
  access.unit = warp.unit->actor;
  access.starter = first;
  access.where = issue.where;
  access.bytes = 16;
  for (const unsigned chunk : chunks) {
    if (chunk < kSharedBase || chunk + 16 > kSharedBase + check_.shared_bytes()) {
      Access plain;
      plain.actor = first;
      plain.where = issue.where;
      check_.note(plain, FaultKind::kOutOfBounds,
                  fmt::format("a matrix descriptor leads to shared address {:#x}", chunk));
      return false;
    }
    access.offset = chunk - kSharedBase;
    check_.read_async(access, *warp.unit);
  }
  return true;
}

bool MatrixUnits::multiply(const Issue& issue) {
  Warp& warp = warps_[static_cast<std::size_t>(issue.warp)];
  if (warp.lanes.empty()) warp.lanes.resize(kWarpSize);
  if (warp.unit == nullptr) {
    warp.unit = &check_.add_reading_unit(fmt::format("the wgmma of warp {}", issue.warp),
                                         FaultKind::kOperandInFlight);
  }
  if (!warp.fenced) report(issue, 0, "a product with no wgmma_fence() since the last wait");
  ++warp.issued;
  check_.clocks().tick(warp.unit->actor);
  warp.unit->places.resize(check_.clocks().now(warp.unit->actor) + 1, issue.where);
  Product product{*issue.lanes[0]->product, {}, {}, false};
  const host::MatrixProduct& shape = product.shape;
  if (!check_operand(issue, operand_chunks(slice_b(shape)))) return false;
  if (shape.a == nullptr && !check_operand(issue, operand_chunks(slice_a(shape, issue.warp)))) {
    return false;
  }
  for (int i = 0; i < kWarpSize; ++i) {
    const auto lane = static_cast<std::size_t>(i);
    const host::MatrixProduct& own = *issue.lanes[lane]->product;
    product.accumulators[lane] = reinterpret_cast<unsigned*>(own.accumulators);
    hold(issue, i, product.accumulators[lane], shape.columns / 2, shape.adds);
    if (own.a == nullptr) continue;
    const Held& a = hold(issue, i, const_cast<unsigned*>(own.a), kOperandRegisters, true);
    std::copy_n(a.values.begin(), kOperandRegisters, product.a.emplace_back().begin());
  }
  warp.open.push_back(std::move(product));
  if (landing_ == Landing::kEarliest || (landing_ == Landing::kRandom && random_.coin())) {
    evaluate_all(issue.warp);
  }
  return true;
}

/// d = a * b (+ d), the warp's sixteen rows.
void MatrixUnits::evaluate(int warp_index, Product& product) {
  if (product.done) return;
  product.done = true;
  const host::MatrixProduct& shape = product.shape;
  const bool narrow = shape.element == host::WarpOperation::kMultiplyE4m3;
  ProductSlice slice(shape.element, static_cast<std::size_t>(shape.columns),
                     narrow ? kKeptBits8 : kKeptBits);
  const auto store_a = [&](int row, int k, double value) { slice.a(row, k) = value; };
  read_chunks(check_, slice_b(shape), shape.element,
              [&](int column, int k, double value) { slice.b(k, column) = value; });
  if (product.a.empty()) {
    read_chunks(check_, slice_a(shape, warp_index), shape.element, store_a);
  } else {
    read_registers(product.a, shape.element, store_a);
  }
  slice.prepare();
  Warp& warp = warps_[static_cast<std::size_t>(warp_index)];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    auto& held = warp.lanes[static_cast<std::size_t>(lane)].held;
    const unsigned* first = product.accumulators[static_cast<std::size_t>(lane)];
    const auto entry = std::find_if(held.begin(), held.end(),
                                    [&](const Held& each) { return each.first == first; });
    for (int i = 0; i < shape.columns / 2; ++i) {
      const MatrixPlace place = wgmma_accumulator_place(lane, i);
      unsigned& bits = entry->values[static_cast<std::size_t>(i)];
      const float before = shape.adds ? host::bits_float(bits) : 0.0f;
      bits = host::float_bits(slice.sum(place.row, place.column, before));
    }
  }
}

/// In the order of their issue, as the hardware does.
void MatrixUnits::evaluate_all(int warp_index) {
  Warp& warp = warps_[static_cast<std::size_t>(warp_index)];
  for (auto& group : warp.groups) {
    for (Product& product : group) evaluate(warp_index, product);
  }
  for (Product& product : warp.open) evaluate(warp_index, product);
}

void MatrixUnits::commit(const Issue& issue) {
  Warp& warp = warps_[static_cast<std::size_t>(issue.warp)];
  const Clock stamp = warp.unit != nullptr ? check_.clocks().now(warp.unit->actor) : 0;
  warp.groups.push_back(std::move(warp.open));
  warp.ends.emplace_back(stamp, warp.issued);
  warp.open.clear();
}

void MatrixUnits::wait(const Issue& issue) {
  Warp& warp = warps_[static_cast<std::size_t>(issue.warp)];
  if (warp.lanes.empty()) warp.lanes.resize(kWarpSize);
  const int pending = issue.lanes[0]->argument;
  while (static_cast<int>(warp.groups.size()) > pending) {
    for (Product& product : warp.groups.front()) evaluate(issue.warp, product);
    warp.finished = warp.ends.front().second;
    for (int lane = 0; lane < kWarpSize && warp.unit != nullptr; ++lane) {
      check_.clocks().learn(kWarpSize * issue.warp + lane, warp.unit->actor,
                            warp.ends.front().first);
    }
    warp.groups.pop_front();
    warp.ends.pop_front();
  }
  for (int lane = 0; lane < kWarpSize; ++lane) release(issue, lane, warp.finished);
  warp.fenced = false;
}

/// Gives a lane its registers back, up to the product numbered `finished`.
void MatrixUnits::release(const Issue& issue, int lane_index, long long finished) {
  Lane& lane =
      warps_[static_cast<std::size_t>(issue.warp)].lanes[static_cast<std::size_t>(lane_index)];
  const host::WarpCall& call = *issue.lanes[static_cast<std::size_t>(lane_index)];
  const auto is_named = [&](const Held& held) {
    return std::any_of(call.registers, call.registers + call.register_ranges,
                       [&](const host::RegisterRange& range) {
                         return held.first >= range.first &&
                                held.first + held.values.size() <= range.first + range.count;
                       });
  };
  std::vector<Held> left;
  for (Held& held : lane.held) {
    const bool named = is_named(held);
    if (held.product > finished) {
      if (named)
        report(issue, lane_index,
               "wgmma_wait() names registers of a product that it does not wait for", held.where);
      left.push_back(std::move(held));
      continue;
    }
    if (!named)
      report(issue, lane_index, "wgmma_wait() ends a product, but does not name its registers",
             held.where);
    if (untouched(held.first, held.values.size())) {
      std::copy(held.values.begin(), held.values.end(), held.first);
    } else {
      report(issue, lane_index, "registers of a product were written before wgmma_wait()",
             held.where);
    }
    settle(lane, held.first, std::move(held.values));
  }
  lane.held = std::move(left);
}

void MatrixUnits::report_leftovers() {
  for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
    const auto& lanes = warps_[warp].lanes;
    if (lanes.empty() || lanes[0].held.empty()) continue;
    Access access;
    access.actor = kWarpSize * static_cast<int>(warp);
    access.where = lanes[0].held[0].where;
    check_.note(access, FaultKind::kOperandInFlight,
                "the block ends before this product was waited for");
  }
}

}  // namespace heddle
