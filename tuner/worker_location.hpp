#pragma once

#include <string>

namespace heddle {

/// The program heddle_tune_worker: `given` if it is not empty, else $HEDDLE_TUNE_WORKER, else the
/// file of that name beside this process's executable or beside the library (or executable) that
/// holds this code, or in ../bin of that. Empty = there is none. `none` in the first two places
/// says that none is wanted.
std::string find_worker(const std::string& given);

}  // namespace heddle
