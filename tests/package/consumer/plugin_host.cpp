// C93: two plugins, a static copy of heddle in each, fill one cubin cache at the same time.
// argv: fake driver, folder of an NVRTC, folder for the caches, the two plugins.
#include <dlfcn.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "driver.hpp"
#include "plugin.hpp"

namespace {

constexpr int kRounds = 5;
constexpr int kThreadsPerPlugin = 2;

struct Plugin {
  void* library;
  PluginServe* serve;
};

Plugin open_plugin(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  if (library == nullptr) return {nullptr, nullptr};
  return {library, reinterpret_cast<PluginServe*>(dlsym(library, "plugin_serve"))};
}

int complain(const char* when, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", when, what.c_str());
  return 1;
}

/// All threads begin with no cache at all.
int fill(const std::vector<Plugin>& plugins, const Files& files) {
  std::vector<Served> served(plugins.size() * kThreadsPerPlugin);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < served.size(); ++i) {
    threads.emplace_back([&, i] {
      make_context_current(files.driver.c_str());
      plugins[i % plugins.size()].serve(files, &served[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Served& entry : served) {
    if (!entry.wrong.empty()) return complain("filling the cache", entry.wrong);
  }
  return 0;
}

/// Whoever comes later compiles nothing.
int check_hits(const std::vector<Plugin>& plugins, const Files& files) {
  for (const Plugin& plugin : plugins) {
    Served served;
    plugin.serve(files, &served);
    if (!served.wrong.empty()) return complain("reading the cache", served.wrong);
    if (served.compiles != 0) {
      return complain("compiled again", std::to_string(served.compiles) + " kernels");
    }
  }
  return 0;
}

/// Each has its heddle; SQLite, whose locks belong to the process, is there once.
int check_copies(const std::vector<Plugin>& plugins) {
  if (plugins[0].serve == plugins[1].serve) return complain("plugins", "they are one");
  for (const Plugin& plugin : plugins) {
    if (dlsym(plugin.library, "heddle_context_create") != nullptr) {
      return complain("plugins", "heddle_context_create is visible");
    }
  }
  void* sqlite = dlsym(plugins[0].library, "sqlite3_open_v2");
  if (sqlite == nullptr || sqlite != dlsym(plugins[1].library, "sqlite3_open_v2")) {
    return complain("plugins", "they do not share a SQLite");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 || !make_context_current(argv[1])) return 2;
  const std::vector<Plugin> plugins{open_plugin(argv[4]), open_plugin(argv[5])};
  for (const Plugin& plugin : plugins) {
    if (plugin.serve == nullptr) return 2;
  }
  int failures = check_copies(plugins);
  for (int round = 0; round < kRounds; ++round) {
    const std::string prefix = std::string(argv[3]) + "/" + std::to_string(round);
    const Files files{argv[1], argv[2], prefix + "_cubins.db", prefix + "_results.db"};
    failures += fill(plugins, files);
    failures += check_hits(plugins, files);
  }
  for (const Plugin& plugin : plugins) dlclose(plugin.library);
  if (failures == 0) std::puts("two plugins share a cache");
  return failures == 0 ? 0 : 1;
}
