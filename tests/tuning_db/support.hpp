#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tuning_db/cubin_store.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle::testing_db {

/// A fresh directory, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Collects what a store says.
struct Warnings {
  std::vector<std::string> texts;
  WarningSink sink() {
    return [this](const std::string& text) { texts.push_back(text); };
  }
  std::string joined() const;
};

Hash128 cubin_key(int index);
/// A cubin whose bytes depend on the index.
StoredCubin sample_cubin(int index, std::size_t size = 4096);
bool same_cubin(const StoredCubin& left, const StoredCubin& right);

DeviceClass h200();
/// A measured row with a passed check.
Measurement sample_row();
Measurement measured(const KernelConfig& config, double seconds, const std::string& when);

/// An empty shipped layer.
std::shared_ptr<const std::vector<Measurement>> nothing_shipped();
ResultsStore open_results(const std::string& path, Warnings& warnings);
CubinStore open_cubins(const std::string& path, Warnings& warnings);

/// Runs SQL on a file from outside, as another program would.
void execute_sql(const std::string& path, const std::string& sql);
std::string query_text(const std::string& path, const std::string& sql);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);
std::vector<std::string> files_in(const std::string& directory);

/// Forks; the child runs the function and exits with its result.
pid_t start_child(const std::function<int()>& body);
/// Exit status, or 128 + signal.
int wait_for(pid_t child);
/// Starts the children together and returns how many of them failed.
int run_together(int count, const std::function<int(int)>& body);
/// Runs the function in a child that is not root; true = it returned true.
bool passes_as_ordinary_user(const std::function<bool()>& body);

double seconds_since(std::chrono::steady_clock::time_point start);

/// For limits that must hold on a busy machine too: of the time since it was made it leaves out
/// that in which this thread could have run and others had the cores. What the thread itself waits
/// for, be it a lock, a file or a clock, counts; where the kernel does not tell, everything does.
class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_;
  double queued_before_;
};

}  // namespace heddle::testing_db
