#pragma once

namespace heddle {

/// The worker's side: answers requests from the socket until the other end is closed, and then ends
/// the process, whatever it is in the middle of. `main()` of heddle_tune_worker.
[[noreturn]] void serve_worker(int socket);

}  // namespace heddle
