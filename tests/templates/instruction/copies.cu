// Copies that complete on a barrier or in a group of stores.
// RUN: $file sm_90a | --implicit-check-not=.local
#include "instruction/fence.cuh"
#include "instruction/thread.cuh"
#include "instruction/tma.cuh"

struct Parameters {
  heddle::TensorMap map;
  unsigned char* bytes;
};

using heddle::CachePolicy;

// CHECK: .visible .entry kernel(
// CHECK-NEXT: .param .align 64 .b8
extern "C" __global__ void kernel(const __grid_constant__ Parameters parameters) {
  const heddle::TensorMap& map = parameters.map;
  unsigned char* tile = heddle::shared_memory();
  auto& barrier = *reinterpret_cast<heddle::Barrier*>(tile + 4096);
  // CHECK: mov.u32 [[X:%r[0-9]+]], %ctaid.x;
  const int x = heddle::block_index();

  // The map's own address, not that of a copy on the stack.
  // CHECK: cvta.param.u64 [[MAP:%rd[0-9]+]],
  // CHECK: prefetch.tensormap [[[MAP]]];
  heddle::prefetch_tensor_map(map);

  // CHECK: cvt.u32.u64 [[TILE:%r[0-9]+]], [[SHARED:%rd[0-9]+]];
  // CHECK: add.s64 [[BARRIER64:%rd[0-9]+]], {{%rd[0-9]+}}, 4096;
  // CHECK: cvt.u32.u64 [[BARRIER:%r[0-9]+]], [[BARRIER64]];
  // CHECK: mov.u32 [[TWO:%r[0-9]+]], 2;
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [
  // CHECK-SAME: {{^}}[[TILE]]], [[[MAP]], {[[X]], [[TWO]]}], [[[BARRIER]]];
  heddle::load_tile(tile, map, barrier, {x, 2});
  // CHECK: mov.u32 [[THREE:%r[0-9]+]], 3;
  // CHECK: cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [
  // CHECK-SAME: {{^}}[[TILE]]], [[[MAP]], {[[X]], [[TWO]], [[THREE]]}], [[[BARRIER]]];
  heddle::load_tile(tile, map, barrier, {x, 2, 3});
  // CHECK: mov.u32 [[FOUR:%r[0-9]+]], 4;
  // CHECK: cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [
  // CHECK-SAME: {{^}}[[TILE]]], [[[MAP]], {[[X]], [[TWO]], [[THREE]], [[FOUR]]}], [[[BARRIER]]];
  heddle::load_tile(tile, map, barrier, {x, 2, 3, 4});
  // CHECK: mov.u32 [[FIVE:%r[0-9]+]], 5;
  // CHECK: cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [
  // CHECK-SAME: {{^}}[[TILE]]], [[[MAP]], {[[X]], [[TWO]], [[THREE]], [[FOUR]], [[FIVE]]}],
  // CHECK-SAME: {{^}} [[[BARRIER]]];
  heddle::load_tile(tile, map, barrier, {x, 2, 3, 4, 5});

  // CHECK: mov.u64 [[FIRST:%rd[0-9]+]], 1364590687093260288;
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
  // CHECK-SAME: {{^}}.L2::cache_hint [[[TILE]]], [[[MAP]], {[[X]], [[TWO]]}],
  // CHECK-SAME: {{^}} [[[BARRIER]]], [[FIRST]];
  heddle::load_tile(tile, map, barrier, {x, 2}, CachePolicy::kEvictFirst);
  // CHECK: mov.u64 [[LAST:%rd[0-9]+]], 1508705875169116160;
  // CHECK: cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes
  // CHECK-SAME: {{^}}.L2::cache_hint [[[TILE]]], [[[MAP]], {[[X]], [[TWO]], [[THREE]]}],
  // CHECK-SAME: {{^}} [[[BARRIER]]], [[LAST]];
  heddle::load_tile(tile, map, barrier, {x, 2, 3}, CachePolicy::kEvictLast);
  // CHECK: cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes
  // CHECK-SAME: {{^}}.L2::cache_hint [[[TILE]]], [[[MAP]], {[[X]], [[TWO]], [[THREE]], [[FOUR]]}],
  // CHECK-SAME: {{^}} [[[BARRIER]]], [[LAST]];
  heddle::load_tile(tile, map, barrier, {x, 2, 3, 4}, CachePolicy::kEvictLast);
  // CHECK: cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes
  // CHECK-SAME: {{^}}.L2::cache_hint [[[TILE]]],
  // CHECK-SAME: {{^}} [[[MAP]], {[[X]], [[TWO]], [[THREE]], [[FOUR]], [[FIVE]]}],
  // CHECK-SAME: {{^}} [[[BARRIER]]], [[LAST]];
  heddle::load_tile(tile, map, barrier, {x, 2, 3, 4, 5}, CachePolicy::kEvictLast);

  // CHECK: mov.u32 [[SIZE:%r[0-9]+]], 256;
  // CHECK: cvta.to.global.u64 [[BYTES:%rd[0-9]+]],
  // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [
  // CHECK-SAME: {{^}}[[TILE]]], [[[BYTES]]], [[SIZE]], [[[BARRIER]]];
  heddle::load_bytes(tile, parameters.bytes, 256, barrier);
  // CHECK: fence.proxy.async.shared::cta;
  heddle::fence_async_shared();

  // CHECK: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [
  // CHECK-SAME: {{^}}[[MAP]], {[[X]], [[TWO]]}], [[[TILE]]];
  heddle::store_tile(map, {x, 2}, tile);
  // CHECK: cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [
  // CHECK-SAME: {{^}}[[MAP]], {[[X]], [[TWO]], [[THREE]]}], [[[TILE]]];
  heddle::store_tile(map, {x, 2, 3}, tile);
  // CHECK: cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [
  // CHECK-SAME: {{^}}[[MAP]], {[[X]], [[TWO]], [[THREE]], [[FOUR]]}], [[[TILE]]];
  heddle::store_tile(map, {x, 2, 3, 4}, tile);
  // CHECK: cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [
  // CHECK-SAME: {{^}}[[MAP]], {[[X]], [[TWO]], [[THREE]], [[FOUR]], [[FIVE]]}], [[[TILE]]];
  heddle::store_tile(map, {x, 2, 3, 4, 5}, tile);
  // CHECK: cp.async.bulk.global.shared::cta.bulk_group [[[BYTES]]], [[[TILE]]], [[SIZE]];
  heddle::store_bytes(parameters.bytes, tile, 256);

  // CHECK: cp.async.bulk.commit_group;
  heddle::store_commit();
  // CHECK: cp.async.bulk.wait_group.read 1;
  heddle::store_wait_read<1>();
  // CHECK: cp.async.bulk.wait_group 0;
  heddle::store_wait<0>();
}
