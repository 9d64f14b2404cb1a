#include "tuner/message_channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <nlohmann/json.hpp>

namespace heddle {
namespace {

using Clock = MessageChannel::Clock;

/// False at the deadline.
bool wait_for(int socket, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{socket, events, 0};
    const int wait_ms = static_cast<int>(std::clamp<long long>(left.count(), 0, 3'600'000));
    const int ready = ::poll(&entry, 1, wait_ms);
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
  }
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

bool MessageChannel::send(const nlohmann::json& message, Clock::time_point deadline) {
  std::vector<unsigned char> bytes(sizeof(std::uint64_t));
  nlohmann::json::to_cbor(message, bytes);
  const std::uint64_t length = bytes.size() - sizeof length;
  std::memcpy(bytes.data(), &length, sizeof length);
  for (std::size_t sent = 0; sent < bytes.size();) {
    if (!wait_for(socket_, POLLOUT, deadline)) return false;
    const ssize_t count =
        ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && !would_block()) return false;
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool MessageChannel::take(nlohmann::json& message) {
  std::uint64_t length = 0;
  if (buffer_.size() < sizeof length) return false;
  std::memcpy(&length, buffer_.data(), sizeof length);
  if (buffer_.size() - sizeof length < length) return false;
  const auto first = buffer_.begin() + sizeof length;
  const auto last = first + static_cast<std::ptrdiff_t>(length);
  message = nlohmann::json::from_cbor(first, last);
  buffer_.erase(buffer_.begin(), last);
  return true;
}

MessageChannel::Received MessageChannel::receive(nlohmann::json& message,
                                                 Clock::time_point deadline) {
  constexpr std::size_t kChunk = 1 << 16;
  while (!take(message)) {
    if (!wait_for(socket_, POLLIN, deadline)) return Received::kNothing;
    const std::size_t size = buffer_.size();
    buffer_.resize(size + kChunk);
    const ssize_t count = ::recv(socket_, buffer_.data() + size, kChunk, MSG_DONTWAIT);
    buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0 || (count < 0 && !would_block())) return Received::kClosed;
  }
  return Received::kMessage;
}

}  // namespace heddle
