// The server's TLS: version 1.2 or later, HTTP/1.1 or 1.0 by ALPN.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

namespace sluice::http {

// From PEM files; null where both names are empty. Throws std::invalid_argument saying which file is wrong.
std::unique_ptr<boost::asio::ssl::context> make_tls_context(const std::string& certificate, const std::string& key);

}  // namespace sluice::http
