// A thread's part of the SSE hub. Internal to it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "http/server/outlet.h"
#include "http/sse/sse.h"
#include "http/sse/sse_mailbox.h"
#include "runtime/task_scope.h"

namespace sluice::http {

// Belongs to its thread, but for size() and post().
class SseHub::Branch {
 public:
  struct Label {
    std::string topic;
    std::string subscriber;
    SseOwner* owner;
    uint64_t generation;  // of two subscriptions the one with the higher is the later
  };

  Branch(const SseConfig& config, asio::io_context& context, Clock& clock);
  ~Branch();

  void open(Label label, std::shared_ptr<Outlet> outlet, std::string_view last_event_id);
  // Has `letter` delivered on the branch's thread, in the order of posting. Any thread.
  void post(SseMailbox::Letter letter);
  Task<> drain();

  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct Topic;
  struct Subscription;

  void deliver();
  // Sends to all members of the topic, or only to `subscriber` if it is not empty. Returns the number of receivers.
  size_t publish(const std::string& topic, const std::string& subscriber, const SharedBytes& frame);
  // The last words to everyone of the topic. Returns to how many.
  size_t end(const std::string& topic, const SharedBytes& frame);
  // Ends the subscription of that name if it is older than `generation`.
  void replace(const std::string& topic, const std::string& subscriber, uint64_t generation);
  void send_away(const SseMailbox::Mail& mail);
  void send(Subscription& subscription, const SharedBytes& frame);
  // The last words, then the end.
  void dismiss(Subscription& subscription, const SharedBytes& frame);
  void remove(Subscription& subscription);
  Task<> beat();

  const SseConfig& config_;
  asio::io_context& context_;
  Clock& clock_;
  SseMailbox mailbox_;
  SharedBytes hello_;
  std::unordered_map<std::string, std::unique_ptr<Topic>> topics_;
  std::vector<std::unique_ptr<Subscription>> all_;
  std::vector<std::shared_ptr<Outlet>> leaving_;  // have got their last words
  size_t owed_ = 0;                               // parts of heartbeats that were not due as a whole yet
  size_t cursor_ = 0;                             // where in all_ the next heartbeats go
  std::atomic<size_t> size_{0};
  bool beating_ = false;
  TaskScope scope_;
};

}  // namespace sluice::http
