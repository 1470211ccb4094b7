// The two SQL statements of the queue on PostgreSQL, over plain libpq, without any safeguards.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace sluice::bench {

// For one thread. Failures throw std::runtime_error.
class PlainConnection {
 public:
  PlainConnection(const std::string& url, const std::string& user, const std::string& password);
  ~PlainConnection() { PQfinish(pg_); }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;

  // The first two columns of the rows, each as an array literal.
  std::array<std::string, 2> query(const char* text, std::vector<const char*> values = {});
  size_t rows() const { return rows_; }
  size_t touched() const { return touched_; }  // by an INSERT, UPDATE or DELETE

 private:
  PGconn* pg_;
  size_t rows_ = 0;
  size_t touched_ = 0;
};

struct BareLoops {
  std::string url;
  std::string user;
  std::string password;
  int connections = 1;
  size_t jobs_at_once = 1;
};

// Jobs a second until nothing is left, each connection in a thread of its own.
double work_off_bare(const BareLoops& loops);

}  // namespace sluice::bench
