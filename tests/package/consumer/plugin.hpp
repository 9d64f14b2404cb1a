#pragma once

#include "serve.hpp"

/// The only symbol of a plugin, "plugin_serve".
using PluginServe = void(const Files& files, Served* served);
