// A connection that no longer reads requests and only sends; given to a Takeover.
#pragma once

#include <memory>

#include "http/message.h"

namespace sluice::http {

// Belongs to the thread of its connection.
class Outlet {
 public:
  // Told once, when the connection is gone by itself (closed by the peer, failed); not after `finish` or `close`.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_gone(Outlet& outlet) = 0;
  };

  virtual ~Outlet() = default;

  void belong_to(Owner* owner) { owner_ = owner; }

  // Sends as much as the socket takes and keeps the rest. False if the connection is closed.
  virtual bool send(const SharedBytes& bytes) = 0;
  // Bytes kept because the client does not read them.
  virtual size_t unsent() const = 0;
  // Closes once everything is sent; the other side has a moment for it.
  virtual void finish() = 0;
  virtual void close() = 0;

 protected:
  Owner* owner_ = nullptr;
};

}  // namespace sluice::http
