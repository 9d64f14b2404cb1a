#pragma once
// DRAM bytes of whole calls, read by the counters of an H200.

namespace heddle {

/// dram__bytes_read.sum and dram__bytes_write.sum, each over the kernels of one call, caches
/// emptied before each kernel; fp16, full mask.
struct DramBytes {
  int batch, heads, length, head_dim;
  const char* config;
  double read, written;

  double total() const { return read + written; }
};

// NVIDIA H200, driver 580.159.04, CUDA 13.0, Nsight Compute, 2026-12-01, heddle 0.1.0:
// `heddle bench --suite fa1-io --sweep 1024,4096,16384` with `ncu` on PATH.
constexpr const char* kMeasuredFa2 = "tile_m=128,stages=3,query_in_registers=true";
constexpr const char* kMeasuredFa3 =
    "family=fa3,tile_m=192,tile_n=128,warps=12,stages=4,query_stages=2,scheduler=static,"
    "ping_pong=true,tma_store=true";
constexpr DramBytes kDramBytes[] = {{16, 16, 1024, 64, "family=unfused", 1714207744, 1595683840},
                                    {16, 16, 1024, 64, "family=fa1", 553665024, 34738176},
                                    {16, 16, 1024, 64, kMeasuredFa2, 100718336, 25352960},
                                    {16, 16, 1024, 64, kMeasuredFa3, 100729088, 24244736},
                                    {4, 16, 4096, 64, "family=unfused", 6570916096, 6428707328},
                                    {4, 16, 4096, 64, "family=fa1", 1561093888, 36536320},
                                    {4, 16, 4096, 64, kMeasuredFa2, 100720128, 25627392},
                                    {4, 16, 4096, 64, kMeasuredFa3, 100706048, 25175808},
                                    {1, 16, 16384, 64, "family=unfused", 28116933888, 25761850112},
                                    {1, 16, 16384, 64, "family=fa1", 7753412608, 40450560},
                                    {1, 16, 16384, 64, kMeasuredFa2, 100886528, 26064384},
                                    {1, 16, 16384, 64, kMeasuredFa3, 100722432, 26841856},
                                    {64, 16, 1024, 64, "family=unfused", 6864849920, 6531292416},
                                    {64, 16, 1024, 64, "family=fa1", 2290805248, 138625536},
                                    {64, 16, 1024, 64, kMeasuredFa2, 402711040, 129554688},
                                    {64, 16, 1024, 64, kMeasuredFa3, 402700288, 128441088},
                                    // The second run, later that day.
                                    {16, 16, 1024, 64, "family=unfused", 1714212096, 1595577344},
                                    {16, 16, 1024, 64, "family=fa1", 547389184, 34648576},
                                    {16, 16, 1024, 64, kMeasuredFa2, 100718592, 25205248},
                                    {16, 16, 1024, 64, kMeasuredFa3, 100707072, 24313600},
                                    {4, 16, 4096, 64, "family=unfused", 6568930560, 6429178624},
                                    {4, 16, 4096, 64, "family=fa1", 1502914816, 36480256},
                                    {4, 16, 4096, 64, kMeasuredFa2, 100717312, 25278464},
                                    {4, 16, 4096, 64, kMeasuredFa3, 100715264, 24894720},
                                    {1, 16, 16384, 64, "family=unfused", 28131865088, 25761559040},
                                    {1, 16, 16384, 64, "family=fa1", 7619646976, 39860992},
                                    {1, 16, 16384, 64, kMeasuredFa2, 100910336, 25746432},
                                    {1, 16, 16384, 64, kMeasuredFa3, 100727808, 26904320},
                                    {64, 16, 1024, 64, "family=unfused", 6863962624, 6530596864},
                                    {64, 16, 1024, 64, "family=fa1", 2279082752, 138755072},
                                    {64, 16, 1024, 64, kMeasuredFa2, 402711040, 129622272},
                                    {64, 16, 1024, 64, kMeasuredFa3, 402700288, 128394752}};

}  // namespace heddle
