#include "tuner/worker_serve.hpp"

#include <poll.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "tuner/local_runner.hpp"
#include "tuner/message_channel.hpp"
#include "tuner/worker_messages.hpp"

namespace heddle {
namespace {

using nlohmann::json;
using Clock = MessageChannel::Clock;

constexpr auto kForEver = std::chrono::hours(24 * 365);

/// No tuner, no worker: also where this one is stuck in a kernel that never ends.
void end_with(int socket) {
  std::thread([socket] {
    pollfd entry{socket, POLLRDHUP, 0};
    while (::poll(&entry, 1, -1) <= 0 || (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {
    }
    ::_exit(0);
  }).detach();
}

/// What a worker is between two requests.
class Session {
 public:
  explicit Session(int socket) : channel_(socket) {}

  void run() {
    json request;
    while (channel_.receive(request, Clock::now() + kForEver) ==
           MessageChannel::Received::kMessage) {
      if (!channel_.send(answer(request), Clock::now() + kForEver)) return;
    }
  }

 private:
  json answer(const json& request) {
    try {
      return perform(request);
    } catch (const Error& error) {
      return {{"error", to_message(error)}};
    } catch (const std::bad_alloc&) {
      return {{"error", to_message(Error(ErrorCode::kOutOfMemory, "", "out of host memory"))}};
    } catch (const std::exception& error) {
      return {{"error", to_message(Error(ErrorCode::kInternal, "", error.what()))}};
    }
  }

  json perform(const json& request) {
    const std::string action = request.at("do");
    if (action == "open") return open(request);
    if (action == "compile") return compile(request);
    if (action == "prepare") return prepare(request);
    if (!runner_) throw Error(ErrorCode::kInternal, "do", "'" + action + "' before 'prepare'");
    if (action == "check") return check(request);
    if (action == "race") return race(request);
    if (action == "load") {
      runner_->load(contestant_of(request.at("contestant")));
    } else {
      runner_->release(request.at("id"));
    }
    return json::object();
  }

  json open(const json& request) {
    Compiler::Options options;
    options.nvrtc_path = request.at("nvrtc");
    options.cache.path = request.at("cache");
    options.extra_options = request.at("extra_options").get<std::vector<std::string>>();
    compiler_ = std::make_unique<Compiler>(options);
    driver_path_ = request.at("driver");
    ordinal_ = request.at("device");
    return json::object();
  }

  json compile(const json& request) {
    std::optional<BadKind> bad;
    if (request.contains("bad")) bad = static_cast<BadKind>(request.at("bad").get<int>());
    const auto variant = parse_canonical<Variant>(request.at("variant").get<std::string>());
    const auto config = parse_canonical<KernelConfig>(request.at("config").get<std::string>());
    return {{"kernels", to_message(compile_config(*compiler_, variant, config,
                                                  limits_of(request.at("limits")), bad))}};
  }

  json prepare(const json& request) {
    if (!device_) device_ = std::make_unique<Device>(Driver::load(driver_path_), ordinal_);
    runner_ =
        std::make_unique<LocalRunner>(*device_, *compiler_, problem_of(request.at("problem")),
                                      inputs_of(request.at("inputs")), [this](int id) {
                                        channel_.send({{"note", id}}, Clock::now() + kForEver);
                                      });
    return json::object();
  }

  json check(const json& request) {
    const CheckOutcome outcome = runner_->check(contestant_of(request.at("contestant")));
    return {{"outcome", to_message(outcome)}, {"usable", runner_->usable()}};
  }

  json race(const json& request) {
    const RaceOutcome outcome = runner_->race(round_of(request.at("round")));
    return {{"outcome", to_message(outcome)}, {"usable", runner_->usable()}};
  }

  MessageChannel channel_;
  std::string driver_path_;
  int ordinal_ = 0;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<LocalRunner> runner_;
};

}  // namespace

void serve_worker(int socket) {
  end_with(socket);
  // Leaked: there is nothing to save, and a lost context makes a mess of orderly ends.
  auto* session = new Session(socket);
  session->run();
  ::_exit(0);
}

}  // namespace heddle
