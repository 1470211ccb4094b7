// The server's TLS: version 1.2 or later, HTTP/1.1 or 1.0 by ALPN.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

namespace sluice::http {

// From PEM files; null where both names are empty. Throws std::invalid_argument saying which file is wrong.
std::shared_ptr<boost::asio::ssl::context> make_tls_context(const std::string& certificate, const std::string& key);

// For the log: when the context's certificate expires, as "2026-11-16T05:00:00Z".
std::string expiry_of(boost::asio::ssl::context& context);

}  // namespace sluice::http
