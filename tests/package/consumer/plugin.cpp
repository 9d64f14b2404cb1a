#include "plugin.hpp"

extern "C" __attribute__((visibility("default"))) void plugin_serve(const Files& files,
                                                                    Served* served) {
  *served = serve(files);
}
