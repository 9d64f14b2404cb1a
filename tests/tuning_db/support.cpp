#include "tests/tuning_db/support.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace heddle::testing_db {

namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "heddle_db_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Warnings::joined() const {
  std::string all;
  for (const auto& text : texts) all += text + '\n';
  return all;
}

Hash128 cubin_key(int index) {
  return hash_text("kernel " + std::to_string(index));
}

StoredCubin sample_cubin(int index, std::size_t size) {
  StoredCubin cubin;
  cubin.bytes.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    cubin.bytes[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(index));
  }
  cubin.entry = "heddle_fa2_attention";
  cubin.notes.registers = 168;
  cubin.notes.seconds = 0.25 + index;
  cubin.notes.remarks = "ptxas: C7510, one=two\nsecond line";
  return cubin;
}

bool same_cubin(const StoredCubin& left, const StoredCubin& right) {
  return left.bytes == right.bytes && left.entry == right.entry &&
         fields_equal(left.notes, right.notes);
}

DeviceClass h200() {
  return {.capability_major = 9,
          .capability_minor = 0,
          .sm_count = 132,
          .shared_bytes_per_block = 232448,
          .l2_bytes = 62914560,
          .name = "NVIDIA H200"};
}

Measurement sample_row() {
  Measurement row;
  row.sizes.batch = 2;
  row.sizes.heads = 32;
  row.sizes.kv_heads = 8;
  row.sizes.seqlen_q = 1000;
  row.sizes.seqlen_kv = 1000;
  row.bucket = bucket_of(row.sizes);
  row.device = h200();
  row.config.tile_m = 128;
  row.median_seconds = 1.0 / 3 * 1e-3;
  row.spread_seconds = 1.7e-6;
  row.samples = 30;
  row.clock_mhz = 1980;
  row.check = CheckRecord{.passed = true,
                          .max_error = 0.0019,
                          .baseline_max_error = 0.002,
                          .rms_error = 1e-4,
                          .baseline_rms_error = 1.1e-4,
                          .lse_error = 1e-6,
                          .sizes = canonical_text(row.sizes)};
  row.provenance = {"13.0", "13.0 (build 123)",     "0.1.0",
                    "abcd", "2025-01-31T12:00:00Z", "heddle tune --model \"x y\""};
  return row;
}

Measurement measured(const KernelConfig& config, double seconds, const std::string& when) {
  Measurement row = sample_row();
  row.config = config;
  row.median_seconds = seconds;
  row.provenance.when = when;
  return row;
}

std::shared_ptr<const std::vector<Measurement>> nothing_shipped() {
  return std::make_shared<const std::vector<Measurement>>();
}

ResultsStore open_results(const std::string& path, Warnings& warnings) {
  ResultsStore::Options options;
  options.path = path;
  options.busy_timeout_ms = 500;
  options.warn = warnings.sink();
  options.shipped = nothing_shipped();
  return ResultsStore(options);
}

CubinStore open_cubins(const std::string& path, Warnings& warnings) {
  CubinStore::Options options;
  options.path = path;
  options.busy_timeout_ms = 500;
  options.warn = warnings.sink();
  return CubinStore(options);
}

void execute_sql(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 5000).exec(sql);
}

std::string query_text(const std::string& path, const std::string& sql) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE, 5000);
  return database.execAndGet(sql).getString();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

pid_t start_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child > 0) return child;
  int status = 99;
  try {
    status = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(status);
}

int wait_for(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_together(int count, const std::function<int(int)>& body) {
  int gate[2];
  if (::pipe(gate) != 0) return count;
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    children.push_back(start_child([&, i] {
      char byte = 0;
      ::close(gate[1]);
      if (::read(gate[0], &byte, 1) < 0) return 97;  // until the parent closes its end
      return body(i);
    }));
  }
  ::close(gate[0]);
  ::close(gate[1]);
  int failed = 0;
  for (const pid_t child : children) failed += wait_for(child) == 0 ? 0 : 1;
  return failed;
}

bool passes_as_ordinary_user(const std::function<bool()>& body) {
  constexpr uid_t kNobody = 65534;
  return wait_for(start_child([&] {
           const bool root = ::geteuid() == 0;
           if (root && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) return 98;
           return body() ? 0 : 1;
         })) == 0;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

namespace {

/// Seconds that this thread has waited for a core since it began.
double seconds_queued() {
  std::ifstream file("/proc/thread-self/schedstat");
  double running = 0, queued = 0;  // ns
  return file >> running >> queued ? queued * 1e-9 : 0;
}

}  // namespace

// Wherever the two clocks are read apart, what lies between is counted.
Stopwatch::Stopwatch()
    : start_(std::chrono::steady_clock::now()), queued_before_(seconds_queued()) {}

double Stopwatch::seconds() const {
  const double queued = seconds_queued() - queued_before_;
  return seconds_since(start_) - queued;
}

}  // namespace heddle::testing_db
