#include <boost/asio/io_context.hpp>

#include "lab/load_run.h"

namespace sluice::lab {
namespace {

using boost::asio::ip::tcp;

Wire::Endpoint resolve(const http::Url& url) {
  boost::asio::io_context context;
  tcp::resolver resolver(context);
  boost::system::error_code error;
  const auto found = resolver.resolve(url.host(), std::to_string(url.port()), tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    throw std::runtime_error(fmt::format("{} cannot be resolved: {}.", url.host(), error.message()));
  }
  // The same address that most servers listen on when they are told "localhost".
  for (const auto& entry : found) {
    if (entry.endpoint().address().is_v4()) return entry.endpoint();
  }
  return found.begin()->endpoint();
}

}  // namespace

std::string prepare_request(const LoadOptions& options, const http::Url& url) {
  std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", http::name(options.method), url.target(), url.authority());
  if (options.sse) request += "Accept: text/event-stream\r\n";
  for (const auto& [name, value] : options.headers) request += fmt::format("{}: {}\r\n", name, value);
  if (!options.body.empty()) request += fmt::format("Content-Length: {}\r\n", options.body.size());
  return request + "\r\n" + options.body;
}

std::vector<LoadTarget> find_targets(const LoadOptions& options) {
  std::vector<LoadTarget> targets;
  for (const http::Url& url : options.urls) {
    const Wire::Endpoint endpoint = resolve(url);
    if (!options.allow_remote && !endpoint.address().is_loopback()) {
      throw std::runtime_error(fmt::format(
          "{} is not this machine. Test only your own servers; use --allow-remote to confirm.", url.authority()));
    }
    auto target = std::ranges::find(targets, endpoint, &LoadTarget::endpoint);
    if (target == targets.end()) target = targets.insert(targets.end(), {.endpoint = endpoint, .urls = {}});
    target->urls.push_back(url);
  }
  return targets;
}

}  // namespace sluice::lab
