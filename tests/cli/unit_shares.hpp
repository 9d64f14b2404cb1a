#pragma once
// How busy the profiler found each unit for the ten problems of the suite `bottlenecks`, and what
// most warps waited for.

namespace heddle {

/// Percent of what the unit can do, of several kernels by their time, as in the suite's CSV.
struct UnitShares {
  const char* label;
  const char* config;
  double tensor, exponential, issue, shared, l2, hbm;
  const char* stall;
};

// NVIDIA H200, driver 580.159.04, CUDA 13.0, Nsight Compute, 2026-12-01, heddle 0.1.0:
// `heddle bench --suite bottlenecks` with `ncu` on PATH. By kernel, unfused: scores 1.510 ms, L2 at
// 86.17 % of its look-ups (lts__t_tag_requests), 2696193 cycles; softmax 1.816 ms, L2 78.41
// %, 32.11 % of its look-ups; output 1.268 ms, L2 76.42 % of its look-ups, 2256537 cycles.
constexpr UnitShares kUnitShares[] = {
    {"unfused d 128 full 4096", "family=unfused", 18.74, 5.90, 29.21, 40.74, 80.41, 59.42,
     "long_scoreboard"},
    {"fa1 d 128 full 16384", "family=fa1", 1.72, 0.72, 3.10, 7.09, 4.42, 2.81, "short_scoreboard"},
    {"fa2 d 64 full 2048", "tile_m=128,stages=3,query_in_registers=true", 49.61, 33.95, 39.41,
     38.25, 37.25, 6.33, "wait"},
    {"fa2 d 128 causal 16384", "tile_m=128,tile_n=48", 53.75, 18.06, 30.51, 50.37, 40.15, 1.72,
     "wait"},
    {"fa3 d 64 full 4096",
     "family=fa3,tile_m=192,tile_n=128,warps=12,stages=4,query_stages=2,scheduler=static,"
     "ping_pong=true,tma_store=true",
     60.10, 60.57, 46.52, 38.49, 23.50, 5.55, "wait"},
    {"fa3 d 128 full 8192",
     "family=fa3,tile_m=192,tile_n=80,warps=12,stages=4,running_max=checked_sum,scheduler=static,"
     "ping_pong=true",
     88.26, 44.80, 41.62, 63.30, 35.27, 3.90, "wait"},
    {"fa3 d 256 causal 8192", "family=fa3,tile_m=128,warps=8,ping_pong=true,skip_masked=true",
     88.83, 22.45, 33.48, 68.34, 60.20, 7.53, "wait"},
    {"fp8 d 128 full 8192",
     "family=fa3,tile_m=192,tile_n=96,warps=12,stages=4,query_stages=2,scheduler=static,"
     "ping_pong=true",
     52.52, 52.89, 51.51, 45.88, 22.21, 2.90, "wait"},
    {"decoding, 1 x 32768 keys",
     "family=fa3,tile_n=176,running_max=every_block,split_kv=true,scheduler=static,pack_gqa=true",
     21.12, 10.94, 9.31, 13.00, 67.50, 67.95, "long_scoreboard"},
    {"decoding, 64 x 4096 keys", "family=fa3,tile_n=176,pack_gqa=true", 31.08, 15.72, 12.04, 18.69,
     93.25, 92.68, "long_scoreboard"}};

}  // namespace heddle
