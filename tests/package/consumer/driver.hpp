#pragma once

/// The fake driver's own controls make a context current without any CUDA header.
bool make_context_current(const char* driver);
