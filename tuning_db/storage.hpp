#pragma once

#include <functional>
#include <string>

namespace heddle {

/// Called at most once per store and kind of trouble ("results.db is locked: …"). It runs inside
/// the store's call and must not call the same store back.
using WarningSink = std::function<void(const std::string&)>;

/// What a store stands on now.
enum class StorageState {
  kFile,          ///< rows are read from and written to the file
  kReadOnlyFile,  ///< rows are read from the file; new ones live in memory
  kMemory,        ///< no file is in use
};

}  // namespace heddle
