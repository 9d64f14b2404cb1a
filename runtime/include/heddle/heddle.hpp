#pragma once
// heddle's C++17 face: owners and results over heddle.h, header only. Nothing throws, so it also
// works with exceptions off.
//
//   auto context = heddle::Context::create();
//   if (!context) return fail(context.status().message());
//   heddle::Problem problem;              // every field of heddle_problem; zero = default
//   problem.batch = 1; problem.heads = 16; problem.seqlen_q = problem.seqlen_kv = 4096;
//   problem.head_dim = 128; problem.mask = HEDDLE_CAUSAL;
//   heddle::Arguments arguments;          // device pointers
//   arguments.query = q; arguments.key = k; arguments.value = v; arguments.output = o;
//   heddle::Status status = context->launch(problem, arguments, stream);

#include <heddle/heddle.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
inline namespace abi {

/// Success, or a code with its explanation.
class [[nodiscard]] Status {
 public:
  Status() = default;
  /// Reads the explanation of a call that has just failed on this thread.
  static Status of(heddle_status code, const heddle_context* context) {
    Status status;
    if (code == HEDDLE_OK) return status;
    status.code_ = code;
    status.message_ = heddle_last_error(context);
    status.field_ = heddle_last_error_field(context);
    return status;
  }

  bool ok() const noexcept { return code_ == HEDDLE_OK; }
  explicit operator bool() const noexcept { return ok(); }
  heddle_status code() const noexcept { return code_; }
  const char* name() const noexcept { return heddle_status_name(code_); }
  const std::string& message() const noexcept { return message_; }
  /// The field to blame ("head_dim"), or empty.
  const std::string& field() const noexcept { return field_; }

 private:
  heddle_status code_ = HEDDLE_OK;
  std::string message_;
  std::string field_;
};

/// A value, or the Status that says why there is none. Reading a missing value is undefined.
template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  const Status& status() const noexcept { return status_; }
  Value& operator*() noexcept { return *value_; }
  const Value& operator*() const noexcept { return *value_; }
  Value* operator->() noexcept { return &*value_; }
  const Value* operator->() const noexcept { return &*value_; }

 private:
  std::optional<Value> value_;
  Status status_;
};

// The C structs with struct_size set and everything else at its default.
struct Problem : heddle_problem {
  Problem() noexcept : heddle_problem() { struct_size = sizeof(heddle_problem); }
};
struct Arguments : heddle_arguments {
  Arguments() noexcept : heddle_arguments() { struct_size = sizeof(heddle_arguments); }
};
struct Quantiser : heddle_quantiser {
  Quantiser() noexcept : heddle_quantiser() { struct_size = sizeof(heddle_quantiser); }
};
struct Options : heddle_options {
  Options() noexcept : heddle_options() { struct_size = sizeof(heddle_options); }
};
struct PrepareResult : heddle_prepare_result {
  PrepareResult() noexcept : heddle_prepare_result() {
    struct_size = sizeof(heddle_prepare_result);
  }
};
struct Counters : heddle_counters {
  Counters() noexcept : heddle_counters() { struct_size = sizeof(heddle_counters); }
};
static_assert(sizeof(Problem) == sizeof(heddle_problem) &&
                  sizeof(PrepareResult) == sizeof(heddle_prepare_result),
              "arrays of these are handed to the C interface");

/// Owns a heddle_context. Movable; use it from any thread.
class Context {
 public:
  static Result<Context> create(const Options& options = Options()) {
    heddle_context* handle = nullptr;
    const heddle_status code = heddle_context_create(&options, &handle);
    if (code != HEDDLE_OK) return Status::of(code, nullptr);
    return Context(handle);
  }

  /// Makes kernels resident in the current CUDA context. `results`, if given, has one entry each.
  Status prepare(const std::vector<Problem>& problems,
                 std::vector<PrepareResult>* results = nullptr) {
    if (results != nullptr) results->assign(problems.size(), PrepareResult());
    return status(heddle_prepare(handle_.get(), problems.data(), problems.size(),
                                 results != nullptr ? results->data() : nullptr));
  }

  Result<std::size_t> workspace_bytes(const Problem& problem,
                                      const Arguments* arguments = nullptr) {
    std::size_t bytes = 0;
    const heddle_status code = heddle_workspace_bytes(handle_.get(), &problem, arguments, &bytes);
    if (code != HEDDLE_OK) return status(code);
    return bytes;
  }

  Status launch(const Problem& problem, const Arguments& arguments, void* stream = nullptr) {
    return status(heddle_launch(handle_.get(), &problem, &arguments, stream));
  }

  /// Makes a problem's e4m3 inputs: writes them, and what belongs to them, where `arguments`
  /// points.
  Status quantise(const Problem& problem, const Quantiser& quantiser, const Arguments& arguments,
                  void* stream = nullptr) {
    return status(heddle_quantise(handle_.get(), &problem, &quantiser, &arguments, stream));
  }

  Result<std::size_t> quantise_workspace_bytes(const Problem& problem, const Quantiser& quantiser) {
    std::size_t bytes = 0;
    const heddle_status code =
        heddle_quantise_workspace_bytes(handle_.get(), &problem, &quantiser, &bytes);
    if (code != HEDDLE_OK) return status(code);
    return bytes;
  }

  /// Which kernel the problem gets, and how well its tuning record fits.
  Result<std::string> explain_choice(const Problem& problem) {
    std::string text(1024, '\0');
    std::size_t needed = 0;
    heddle_status code =
        heddle_explain_choice(handle_.get(), &problem, text.data(), text.size(), &needed);
    if (code == HEDDLE_OK && needed > text.size()) {
      text.resize(needed);
      code = heddle_explain_choice(handle_.get(), &problem, text.data(), text.size(), &needed);
    }
    if (code != HEDDLE_OK) return status(code);
    text.resize(needed - 1);
    return text;
  }

  Counters counters() const {
    Counters counters;
    heddle_get_counters(handle_.get(), &counters);
    return counters;
  }

  heddle_context* get() const noexcept { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(heddle_context* handle) const noexcept { heddle_context_destroy(handle); }
  };
  explicit Context(heddle_context* handle) : handle_(handle) {}
  Status status(heddle_status code) const { return Status::of(code, handle_.get()); }

  std::unique_ptr<heddle_context, Destroy> handle_;
};

}  // namespace abi
}  // namespace heddle
