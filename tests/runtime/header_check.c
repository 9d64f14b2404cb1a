/* heddle.h is C99, and a C program gets along with it alone. argv[1]: a driver that is absent. */
#include <heddle/heddle.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  heddle_context* context = NULL;
  heddle_options options;
  heddle_status status;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.driver_path = argc > 1 ? argv[1] : "/nonexistent/libcuda.so.1";
  status = heddle_context_create(&options, &context);
  printf("%s: %s\n", heddle_status_name(status), heddle_last_error(NULL));
  heddle_context_destroy(context);
  return status == HEDDLE_DRIVER_MISSING && context == NULL && heddle_version() == HEDDLE_VERSION &&
                 strstr(heddle_last_error(NULL), "/nonexistent/libcuda.so.1") != NULL
             ? 0
             : 1;
}
