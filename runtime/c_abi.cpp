#include "runtime/c_abi.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <type_traits>

#include "runtime/abi_structs.hpp"
#include "runtime/last_error.hpp"

using namespace heddle;

namespace {

constexpr const char* kStatusNames[] = {"HEDDLE_OK",
                                        "HEDDLE_INVALID_ARGUMENT",
                                        "HEDDLE_UNSUPPORTED",
                                        "HEDDLE_NO_LEGAL_CONFIG",
                                        "HEDDLE_CHECK_FAILED",
                                        "HEDDLE_COMPILE_FAILED",
                                        "HEDDLE_DRIVER_MISSING",
                                        "HEDDLE_DEVICE_MISSING",
                                        "HEDDLE_NVRTC_MISSING",
                                        "HEDDLE_DRIVER_ERROR",
                                        "HEDDLE_OUT_OF_MEMORY",
                                        "HEDDLE_WORKSPACE_TOO_SMALL",
                                        "HEDDLE_CAPTURE_MISS",
                                        "HEDDLE_IO",
                                        "HEDDLE_INTERNAL"};
static_assert(std::size(kStatusNames) == HEDDLE_INTERNAL + 1);

static_assert(static_cast<int>(Match::kExact) == HEDDLE_MATCH_EXACT &&
              static_cast<int>(Match::kDefault) == HEDDLE_MATCH_DEFAULT);

Problem read(const heddle_problem* problem) {
  heddle_problem storage;
  return read_problem(adopt(problem, storage, "problem"));
}

/// Element `index` of an array whose elements have the size their first one states: the caller's
/// header may be older than ours.
template <class Struct>
Struct* element(Struct* array, std::size_t index) {
  using Byte = std::conditional_t<std::is_const_v<Struct>, const char, char>;
  return reinterpret_cast<Struct*>(reinterpret_cast<Byte*>(array) + index * array->struct_size);
}

/// The first exception of several is kept: it is the one whose status and message are returned.
heddle_prepare_result prepare_one(heddle_context& context, const heddle_problem* problem,
                                  std::exception_ptr& first) {
  const auto start = std::chrono::steady_clock::now();
  heddle_prepare_result result{};
  result.match = HEDDLE_MATCH_DEFAULT;
  try {
    const Context::Prepared prepared = context.context.prepare(read(problem));
    result.match = static_cast<std::int32_t>(prepared.match);
    result.from_cache = prepared.from_cache ? 1 : 0;
  } catch (...) {
    result.status = report_exception(&context);
    if (first == nullptr) first = std::current_exception();
  }
  const auto spent = std::chrono::steady_clock::now() - start;
  result.milliseconds = std::chrono::duration<double, std::milli>(spent).count();
  return result;
}

}  // namespace

int heddle_version(void) {
  return HEDDLE_VERSION;
}

const char* heddle_status_name(int status) {
  const bool known = status >= HEDDLE_OK && status <= HEDDLE_INTERNAL;
  return known ? kStatusNames[status] : "unknown heddle_status";
}

heddle_status heddle_prepare(heddle_context* context, const heddle_problem* problems, size_t count,
                             heddle_prepare_result* results) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    if (count == 0) return;
    require_struct(problems, sizeof *problems, "problems");
    if (results != nullptr) require_struct(results, sizeof *results, "results");
    std::exception_ptr first;
    for (std::size_t i = 0; i < count; ++i) {
      const heddle_prepare_result result = prepare_one(*context, element(problems, i), first);
      if (results != nullptr) hand_back(element(results, i), result, "results");
    }
    if (first != nullptr) std::rethrow_exception(first);
  });
}

heddle_status heddle_workspace_bytes(heddle_context* context, const heddle_problem* problem,
                                     const heddle_arguments* arguments, size_t* bytes) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    require_not_null(bytes, "bytes");
    heddle_arguments storage{};
    const heddle_arguments& given =
        arguments == nullptr ? storage : adopt(arguments, storage, "arguments");
    *bytes = context->context.workspace_bytes(read(problem), read_arguments(given));
  });
}

heddle_status heddle_launch(heddle_context* context, const heddle_problem* problem,
                            const heddle_arguments* arguments, void* stream) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    heddle_arguments storage;
    const heddle_arguments& given = adopt(arguments, storage, "arguments");
    Context::Call call{.problem = read(problem),
                       .pointers = read_arguments(given),
                       .workspace_bytes = given.workspace_bytes,
                       .stream = stream};
    context->context.launch(call);
  });
}

heddle_status heddle_quantise_workspace_bytes(heddle_context* context,
                                              const heddle_problem* problem,
                                              const heddle_quantiser* quantiser, size_t* bytes) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    require_not_null(bytes, "bytes");
    heddle_quantiser storage;
    QuantiserCall call = read_quantiser(adopt(quantiser, storage, "quantiser"));
    call.problem = read(problem);
    *bytes = Quantiser::workspace_bytes(call);
  });
}

heddle_status heddle_quantise(heddle_context* context, const heddle_problem* problem,
                              const heddle_quantiser* quantiser, const heddle_arguments* arguments,
                              void* stream) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    heddle_quantiser storage;
    heddle_arguments argument_storage;
    const heddle_arguments& given = adopt(arguments, argument_storage, "arguments");
    Context::QuantiseCall call{.what = read_quantiser(adopt(quantiser, storage, "quantiser")),
                               .workspace = given.workspace,
                               .workspace_bytes = given.workspace_bytes};
    call.what.problem = read(problem);
    call.what.results = read_arguments(given);
    call.what.stream = stream;
    context->context.quantise(call);
  });
}

heddle_status heddle_explain_choice(heddle_context* context, const heddle_problem* problem,
                                    char* buffer, size_t capacity, size_t* needed) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    if (capacity > 0) require_not_null(buffer, "buffer");
    const std::string text = context->context.explain(read(problem));
    if (needed != nullptr) *needed = text.size() + 1;
    if (capacity == 0) return;
    const std::size_t length = std::min(text.size(), capacity - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  });
}

heddle_status heddle_get_counters(heddle_context* context, heddle_counters* counters) {
  return guarded(context, [&] {
    require_not_null(context, "context");
    const Context::Counters now = context->context.counters();
    hand_back(counters,
              heddle_counters{.struct_size = sizeof(heddle_counters),
                              .compiles = now.compiles,
                              .database_reads = now.database_reads,
                              .hot_hits = now.hot_hits,
                              .misses = now.misses},
              "counters");
  });
}

const char* heddle_last_error(const heddle_context* context) {
  return last_error_message(context);
}

const char* heddle_last_error_field(const heddle_context* context) {
  return last_error_field(context);
}
