#include "tests/scenario/raw_client.h"

#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "http/message.h"

namespace sluice::test {

RawClient::RawClient(uint16_t port, std::chrono::seconds patience)
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("cannot connect");
  }
}

RawClient::~RawClient() {
  ::close(descriptor_);
}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;  // a wait with a limit is not taken up again by itself
    if (sent <= 0) throw std::runtime_error("cannot send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void RawClient::try_send(std::string_view bytes) {
  try {
    send(bytes);
  } catch (const std::runtime_error&) {
    // The server may close while we are sending; its answer can still be read.
  }
}

void RawClient::shutdown() {
  ::shutdown(descriptor_, SHUT_WR);
}

bool RawClient::fill() {
  char bytes[16384];
  ssize_t got = 0;
  do {
    got = ::recv(descriptor_, bytes, sizeof bytes, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    throw std::runtime_error("no answer in time; so far: " + buffer_);
  }
  if (got <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(got));
  return true;
}

std::string RawClient::read_until(std::string_view text) {
  size_t at = buffer_.find(text);
  while (at == std::string::npos) {
    if (!fill()) throw std::runtime_error("the connection ended; so far: " + buffer_);
    at = buffer_.find(text);
  }
  std::string result = buffer_.substr(0, at + text.size());
  buffer_.erase(0, result.size());
  return result;
}

std::string RawClient::read_to_end() {
  while (fill()) {
  }
  return std::exchange(buffer_, {});
}

RawResponse RawClient::read_response(bool has_body) {
  RawResponse response;
  response.head = read_until("\r\n\r\n");
  response.status = std::stoi(response.head.substr(9, 3));
  if (!has_body || response.status == 204 || response.status == 304 || response.status < 200) return response;
  if (response.header("Transfer-Encoding") == "chunked") {
    while (true) {
      const size_t size = std::stoul(read_until("\r\n"), nullptr, 16);
      while (buffer_.size() < size + 2) {
        if (!fill()) throw std::runtime_error("the connection ended within a chunk");
      }
      response.body.append(buffer_, 0, size);
      buffer_.erase(0, size + 2);
      if (size == 0) return response;
    }
  }
  const std::string length = response.header("Content-Length");
  if (length.empty()) {
    response.body = read_to_end();
    return response;
  }
  const size_t size = std::stoul(length);
  while (buffer_.size() < size) {
    if (!fill()) throw std::runtime_error("the connection ended within a body");
  }
  response.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return response;
}

RawResponse RawClient::get(std::string_view target, std::string_view more_headers) {
  send("GET " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(more_headers) + "\r\n");
  return read_response();
}

std::string RawResponse::header(std::string_view name) const {
  size_t at = head.find("\r\n");
  while (at + 2 < head.size()) {
    const size_t end = head.find("\r\n", at + 2);
    const std::string line = head.substr(at + 2, end - at - 2);
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && http::equal_ignoring_case(line.substr(0, colon), name))
      return line.substr(colon + 2);
    at = end;
  }
  return "";
}

}  // namespace sluice::test
