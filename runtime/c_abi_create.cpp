// heddle_options -> Context::Options, and what the status codes are.

#include <exception>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "runtime/abi_structs.hpp"
#include "runtime/c_abi.hpp"
#include "runtime/last_error.hpp"
#include "tuning_db/cubin_store.hpp"

namespace heddle {
namespace {

static_assert(static_cast<int>(ErrorCode::kInvalidArgument) + 1 == HEDDLE_INVALID_ARGUMENT &&
                  static_cast<int>(ErrorCode::kCompileFailed) + 1 == HEDDLE_COMPILE_FAILED &&
                  static_cast<int>(ErrorCode::kWorkspaceTooSmall) + 1 ==
                      HEDDLE_WORKSPACE_TOO_SMALL &&
                  static_cast<int>(ErrorCode::kInternal) + 1 == HEDDLE_INTERNAL,
              "heddle_status lists ErrorCode in order");

heddle_status status_of(ErrorCode code) {
  return static_cast<heddle_status>(static_cast<int>(code) + 1);
}

std::string text_or(const char* text, const std::string& otherwise) {
  return text == nullptr || *text == '\0' ? otherwise : text;
}

void require_options(const heddle_options& options) {
  constexpr std::uint64_t kKnown = HEDDLE_NO_DATABASE | HEDDLE_NO_JIT;
  if ((options.flags & ~kKnown) != 0) {
    throw Error(ErrorCode::kUnsupported, "flags",
                fmt::format("unsupported: flags (bits {:#x} are not known to this version)",
                            options.flags & ~kKnown));
  }
  if ((options.allocate == nullptr) == (options.release == nullptr)) return;
  const char* missing = options.allocate == nullptr ? "allocate" : "release";
  throw Error(ErrorCode::kInvalidArgument, missing,
              fmt::format("{}: is null but its counterpart is not; give both or neither", missing));
}

KernelProvider::Options provider_options(const heddle_options& options) {
  KernelProvider::Options result;
  result.driver_path = text_or(options.driver_path, "");
  result.nvrtc_path = text_or(options.nvrtc_path, "");
  result.use_jit = (options.flags & HEDDLE_NO_JIT) == 0;
  if ((options.flags & HEDDLE_NO_DATABASE) == 0) {
    const DatabasePaths defaults = default_database_paths();
    result.results_path = text_or(options.results_path, defaults.results);
    result.cache_path = text_or(options.cache_path, defaults.cubins);
  }
  if (options.log != nullptr) {
    result.log = [log = options.log, user = options.log_user](const std::string& line) {
      log(user, line.c_str());
    };
  }
  return result;
}

/// The callback wants the handle, which exists only once the Context in it does.
using Handle = std::shared_ptr<heddle_context*>;

Context::Options context_options(const heddle_options& options, const Handle& handle) {
  Context::Options result;
  result.provider = provider_options(options);
  result.allocator = {options.allocate, options.release, options.allocator_user};
  if (options.miss != nullptr) {
    result.on_miss = [miss = options.miss, user = options.miss_user,
                      handle](const Problem& problem) {
      const heddle_problem c_problem = write_problem(problem);
      return miss(user, *handle, &c_problem) == 0;
    };
  }
  return result;
}

}  // namespace

heddle_status report_exception(const heddle_context* context) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_error(context, error.field(), error.what());
    return status_of(error.code());
  } catch (const std::bad_alloc&) {
    set_last_error(context, "", "out of host memory");
    return HEDDLE_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(context, "", error.what());
    return HEDDLE_INTERNAL;
  } catch (...) {
    set_last_error(context, "", "an exception that heddle does not know (from a callback?)");
    return HEDDLE_INTERNAL;
  }
}

void require_not_null(const void* argument, const char* name) {
  if (argument != nullptr) [[likely]]
    return;
  throw Error(ErrorCode::kInvalidArgument, name, fmt::format("{}: is null", name));
}

}  // namespace heddle

using namespace heddle;

heddle_status heddle_context_create(const heddle_options* options, heddle_context** context) {
  return guarded(nullptr, [&] {
    require_not_null(context, "context");
    *context = nullptr;
    heddle_options storage{};
    const heddle_options& given = options == nullptr ? storage : adopt(options, storage, "options");
    require_options(given);
    const auto handle = std::make_shared<heddle_context*>(nullptr);
    auto created = std::make_unique<heddle_context>(context_options(given, handle));
    *handle = created.get();
    *context = created.release();
  });
}

void heddle_context_destroy(heddle_context* context) {
  delete context;
}
