// C93: heddle works in a program that brings a SQLite of its own, which the dynamic linker prefers.
// argv: fake driver, folder of an NVRTC, folder for the databases, and a second SQLite to open,
// hidden from the rest of the process.
#include <dlfcn.h>

#include <cstdio>
#include <heddle/heddle.hpp>

#include "driver.hpp"
#include "serve.hpp"

extern "C" {
struct sqlite3;
int sqlite3_open(const char* path, sqlite3** database);
int sqlite3_exec(sqlite3* database, const char* text, int (*row)(void*, int, char**, char**),
                 void* user, char** message);
int sqlite3_close(sqlite3* database);
const char* sqlite3_libversion();
}

namespace {

int is_ok(void* user, int, char** values, char**) {
  *static_cast<bool*>(user) = std::string(values[0]) == "ok";
  return 0;
}

bool is_sound(const std::string& path) {
  sqlite3* database = nullptr;
  bool sound = false;
  sqlite3_open(path.c_str(), &database);
  sqlite3_exec(database, "PRAGMA integrity_check", is_ok, &sound, nullptr);
  sqlite3_close(database);
  return sound;
}

bool writes_own(const std::string& path) {
  sqlite3* database = nullptr;
  bool written = sqlite3_open(path.c_str(), &database) == 0;
  written = written && sqlite3_exec(database, "CREATE TABLE t (x); INSERT INTO t VALUES (1)",
                                    nullptr, nullptr, nullptr) == 0;
  return sqlite3_close(database) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5 || !make_context_current(argv[1])) return 2;
  if (argc == 5 && dlopen(argv[4], RTLD_NOW | RTLD_LOCAL) == nullptr) return 2;
  Dl_info found{};
  dladdr(dlsym(RTLD_DEFAULT, "sqlite3_open"), &found);
  std::printf("SQLite %s of %s\n", sqlite3_libversion(), found.dli_fname);
  const std::string folder = argv[3];
  const Files files{argv[1], argv[2], folder + "/own_cubins.db", folder + "/own_results.db"};
  const Served cold = serve(files);
  const bool own = writes_own(folder + "/program.db");
  const Served warm = serve(files);
  std::printf("cold: %lld compiles %s, warm: %lld compiles %s\n", cold.compiles, cold.wrong.c_str(),
              warm.compiles, warm.wrong.c_str());
  const bool served =
      cold.wrong.empty() && warm.wrong.empty() && cold.compiles == kKernels && warm.compiles == 0;
  return served && own && is_sound(files.cache) && is_sound(folder + "/program.db") ? 0 : 1;
}
