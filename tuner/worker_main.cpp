// heddle_tune_worker: where the tuner lets kernels run that may crash or hang. Started by the tuner
// alone, with a socket as its standard input.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "tuner/worker_serve.hpp"

int main() {
  struct stat input {};
  if (::fstat(STDIN_FILENO, &input) != 0 || !S_ISSOCK(input.st_mode)) {
    std::fputs("heddle_tune_worker is started by heddle tune, not by hand\n", stderr);
    return 2;
  }
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  heddle::serve_worker(STDIN_FILENO);
}
