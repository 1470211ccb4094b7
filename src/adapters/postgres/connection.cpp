#include "adapters/postgres/connection.h"

#include <algorithm>

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <libpq-fe.h>

#include "adapters/postgres/codec.h"
#include "adapters/postgres/pipeline_reading.h"

namespace sluice::postgres {
namespace {

using Wait = asio::posix::descriptor_base;

// libpq's messages go on with advice on further lines.
std::string first_line(const char* message) {
  const std::string_view text(message);
  return std::string(text.substr(0, text.find('\n')));
}

// The SQLSTATE of a server's answer to a login, in libpq's verbose form: "FATAL:  28P01: password authentication
// failed". Empty if no server answered.
std::string_view state_in(std::string_view message) {
  constexpr std::string_view before = ":  ";
  constexpr size_t length = 5;
  for (size_t found = message.find(before); found != message.npos; found = message.find(before, found + 1)) {
    const std::string_view state = message.substr(found + before.size(), length);
    const bool is_one =
        std::ranges::all_of(state, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
    if (is_one && message.substr(found + before.size() + length).starts_with(": ")) return state;
  }
  return {};
}

// Worded as libpq does.
std::string no_answer_from(const Target& target) {
  const std::string address = target.address == target.host ? "" : fmt::format(" ({})", target.address);
  return fmt::format("connection to server at \"{}\"{}, port {} failed: timed out", target.host, address, target.port);
}

pg_conn* start_connecting(const PostgresConfig& config, const Target& target) {
  const std::string name = "sluice " + config.service;
  std::vector<const char*> keys = {"dbname", "application_name", "client_encoding", "gssencmode",
                                   // Notices a server that vanished without a word (a pulled cable, a frozen machine).
                                   "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
                                   "tcp_user_timeout"};
  std::vector<const char*> values = {config.url.c_str(), name.c_str(), "UTF8", "disable", "1", "10", "5", "3", "15000"};
  const auto add_unless_empty = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    keys.push_back(key);
    values.push_back(value.c_str());
  };
  add_unless_empty("user", config.user);
  add_unless_empty("password", config.password);
  add_unless_empty("host", target.host);
  add_unless_empty("hostaddr", target.address);
  add_unless_empty("port", target.port);
  add_unless_empty("target_session_attrs", target.session);
  keys.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectStartParams(keys.data(), values.data(), 1);
}

}  // namespace

Connection::Connection(const Executor& executor) : wire_(std::make_shared<Wire>(executor)) {}

Connection::~Connection() {
  if (wire_->socket.is_open()) wire_->socket.release();
  if (pg_ != nullptr) PQfinish(pg_);
}

Task<std::unique_ptr<Connection>> Connection::open(Executor executor, const PostgresConfig& config, Clock& clock) {
  const Deadline deadline = Deadline::after(clock, config.connect_timeout);
  Task<std::vector<Target>> search = find_targets(config.url);
  const std::vector<Target> targets = co_await with_deadline(clock, deadline, engine_name, std::move(search));
  std::string reasons;
  for (size_t i = 0; i < targets.size(); ++i) {
    // An address that swallows every packet must leave time for those after it.
    const Deadline share = deadline.sooner(clock, deadline.left(clock) / static_cast<int64_t>(targets.size() - i));
    std::unique_ptr<Connection> connection(new Connection(executor));
    try {
      co_await connection->connect(config, targets[i], clock, share);
      co_return connection;
    } catch (const LoginRefused&) {
      throw;  // another address would ask for the same password
    } catch (const ConnectionLost& error) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  throw ConnectionLost(reasons);
}

Task<> Connection::connect(const PostgresConfig& config, const Target& target, const Clock& clock, Deadline deadline) {
  pg_ = start_connecting(config, target);
  PQsetErrorVerbosity(pg_, PQERRORS_VERBOSE);  // libpq has no other way to tell the SQLSTATE of a refused login
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED || PQstatus(pg_) == CONNECTION_BAD) not_let_in();
    adopt_socket();
    try {
      co_await wait(next == PGRES_POLLING_WRITING, deadline.left(clock));
    } catch (const DeadlineExceeded&) {
      throw ConnectionLost(no_answer_from(target));
    }
    // libpq may close the socket and open another (TLS refused), even with the same number.
    wire_->socket.release();
    next = PQconnectPoll(pg_);
  }
  adopt_socket();
  PQsetErrorVerbosity(pg_, PQERRORS_DEFAULT);
  PQsetNoticeReceiver(pg_, [](void*, const PGresult*) {}, nullptr);
  if (PQsetnonblocking(pg_, 1) != 0 || PQenterPipelineMode(pg_) != 1) lost();
}

void Connection::adopt_socket() {
  wire_->socket.assign(PQsocket(pg_));
}

Task<PipelineOutcome> Connection::run(std::vector<Step> steps, Duration silence) {
  unwatch();
  in_pipeline_ = true;
  send(steps);
  co_await flush(silence);
  PipelineReading reading(steps.size());
  while (!reading.complete()) {
    if (PQisBusy(pg_)) {
      co_await wait(false, silence);
      consume_input();
      continue;
    }
    // Without a connection libpq answers for ever that there is nothing.
    if (PQstatus(pg_) == CONNECTION_BAD) throw ConnectionLost(reading.last_words(first_line(PQerrorMessage(pg_))));
    reading.take(PQgetResult(pg_));
  }
  in_pipeline_ = false;
  co_return reading.outcome();
}

void Connection::send(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const EncodedParams params(step.params);
    const std::string text(step.text);  // libpq wants its end marked
    const int sent = PQsendQueryParams(pg_, text.c_str(), params.count(), params.types.data(), params.values.data(),
                                       params.lengths.data(), params.formats.data(), 1);
    if (sent != 1) lost();
  }
  if (PQpipelineSync(pg_) != 1) lost();
}

Task<> Connection::flush(Duration silence) {
  while (true) {
    const int left = PQflush(pg_);
    if (left < 0) lost();
    if (left == 0) co_return;
    // The server may wait for us to read before it reads on.
    co_await wait(true, silence);
    consume_input();
  }
}

Task<> Connection::wait(bool for_write, Duration silence) {
  wire_->timed_out = false;
  wire_->silence.expires_after(silence);
  wire_->silence.async_wait([weak = std::weak_ptr(wire_)](const boost::system::error_code& stopped) {
    const auto wire = weak.lock();
    if (stopped || !wire || wire->silence.expiry() > asio::steady_timer::clock_type::now()) return;
    wire->timed_out = true;
    wire->socket.cancel();
  });
  boost::system::error_code error;
  if (for_write) {
    auto either = asio::experimental::make_parallel_group(wire_->socket.async_wait(Wait::wait_read, asio::deferred),
                                                          wire_->socket.async_wait(Wait::wait_write, asio::deferred));
    const auto ready = co_await either.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    const auto& [order, read_error, write_error] = ready;
    error = order[0] == 0 ? read_error : write_error;
  } else {
    co_await wire_->socket.async_wait(Wait::wait_read, asio::redirect_error(asio::use_awaitable, error));
  }
  wire_->silence.cancel();
  if (wire_->timed_out) throw DeadlineExceeded(engine_name);
  if (error) throw boost::system::system_error(error);
}

Task<size_t> Connection::hear(Duration most) {
  size_t heard = take_notifications();  // those that came with an answer
  if (heard == 0) {
    wire_->hearing = true;
    try {
      co_await wait(false, most);
      consume_input();
      heard = take_notifications();
    } catch (const DeadlineExceeded&) {
      // Nothing was said.
    } catch (const boost::system::system_error& error) {
      if (error.code() != asio::error::operation_aborted) throw;
    }
    wire_->hearing = false;
  }
  co_return heard;
}

void Connection::rouse() {
  if (wire_->hearing) wire_->socket.cancel();
}

size_t Connection::take_notifications() {
  size_t taken = 0;
  while (PGnotify* const notification = PQnotifies(pg_)) {
    PQfreemem(notification);
    ++taken;
  }
  return taken;
}

void Connection::consume_input() {
  if (PQconsumeInput(pg_) != 1) lost();
}

// As libpq does with several hosts: a server that is starting or stopping leaves the login to the next one; any other
// answer ends the search.
void Connection::not_let_in() {
  constexpr std::string_view cannot_connect_now = "57P03";
  const char* const message = PQerrorMessage(pg_);
  const std::string_view state = state_in(message);
  if (!state.empty() && state != cannot_connect_now) throw LoginRefused(first_line(message));
  lost();
}

void Connection::lost() {
  throw ConnectionLost(pg_ == nullptr ? "out of memory" : first_line(PQerrorMessage(pg_)));
}

int Connection::backend() const {
  return PQbackendPID(pg_);
}

bool Connection::usable() const {
  return !in_pipeline_ && PQstatus(pg_) == CONNECTION_OK && PQtransactionStatus(pg_) == PQTRANS_IDLE;
}

void Connection::watch(std::function<void()> broken) {
  const uint64_t number = ++wire_->watch;
  const std::weak_ptr weak = wire_;
  const auto look = [weak, number, broken = std::move(broken)](const boost::system::error_code& stopped) {
    const auto wire = weak.lock();
    // No statement is in flight, so any event means that the server has closed the connection.
    if (!stopped && wire && wire->watch == number) broken();
  };
  wire_->socket.async_wait(Wait::wait_read, look);
}

void Connection::unwatch() {
  ++wire_->watch;
  wire_->socket.cancel();
}

}  // namespace sluice::postgres
