// Every work item of a problem, in the order in which blocks come to them.
#include "arguments.cuh"
#include "part/tile_walk.cuh"

namespace heddle {

template <int head_dim, bool longest_first, bool split_kv, bool pack_gqa>
struct Order {
  static constexpr int kHeadDim = head_dim;
  static constexpr bool kLongestFirst = longest_first, kSplitKv = split_kv, kPackGqa = pack_gqa;
};

template <class Config>
inline void list(const KernelArguments& arguments) {
  const auto& parameters = *static_cast<const AttentionParameters*>(arguments.pointers[0]);
  auto* items = static_cast<WorkItem*>(arguments.pointers[1]);
  const TileOrder<Config> order(parameters);
  if (thread_index() != 0) return;
  *static_cast<int*>(arguments.pointers[2]) = static_cast<int>(order.count());
  const auto room = static_cast<unsigned>(arguments.numbers[0]);
  for (unsigned i = 0; i < order.count() && i < room; ++i) items[i] = order.item(i);
}

}  // namespace heddle

extern "C" __global__ void in_turn(const __grid_constant__ KernelArguments arguments) {
  heddle::list<heddle::Order<128, false, false, false>>(arguments);
}
extern "C" __global__ void longest_first(const __grid_constant__ KernelArguments arguments) {
  heddle::list<heddle::Order<128, true, false, false>>(arguments);
}
extern "C" __global__ void longest_first_splits(const __grid_constant__ KernelArguments arguments) {
  heddle::list<heddle::Order<128, true, true, false>>(arguments);
}
extern "C" __global__ void longest_first_packed(const __grid_constant__ KernelArguments arguments) {
  heddle::list<heddle::Order<128, true, false, true>>(arguments);
}
