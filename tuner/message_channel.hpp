#pragma once
// Messages between the tuner and its workers: JSON as CBOR, which carries cubins as bytes, behind a
// length.

#include <chrono>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heddle {

class MessageChannel {
 public:
  using Clock = std::chrono::steady_clock;

  /// The socket stays its owner's.
  explicit MessageChannel(int socket) : socket_(socket) {}

  /// False where the other side is gone, or does not read until the deadline.
  bool send(const nlohmann::json& message, Clock::time_point deadline);

  enum class Received { kMessage, kNothing, kClosed };
  /// Waits until the deadline at most; what has come of a message until then is kept.
  Received receive(nlohmann::json& message, Clock::time_point deadline);

 private:
  bool take(nlohmann::json& message);

  int socket_;
  std::vector<unsigned char> buffer_;
};

}  // namespace heddle
