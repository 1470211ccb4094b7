#include "http/server/request_parser.h"

#include <algorithm>

#include <boost/beast/http/basic_parser.hpp>

#include "base/check.h"

namespace sluice::http {
namespace beast = boost::beast;
using beast::http::field;

namespace {

// Whether a chunk's head can begin like this: with the line end of the chunk before it, then with digits.
bool may_be_chunk_head(std::string_view text, bool is_first) {
  constexpr std::string_view line_end = "\r\n";
  if (!is_first) {
    const std::string_view begin = text.substr(0, line_end.size());
    if (!line_end.starts_with(begin)) return false;
    text.remove_prefix(begin.size());
  }
  const size_t digits = text.find_first_not_of("0123456789abcdefABCDEF");
  if (digits == std::string_view::npos) return true;
  return digits > 0 && std::string_view("; \t\r").contains(text[digits]);
}

// Beast takes any byte within quotes; others may take a line end there for the end of the chunk's head.
bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

// Whether `text` has only characters of a host and a port (RFC 3986 3.2.2); an empty Host is allowed.
bool may_be_host(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_alphanumeric || std::string_view("-._~%!$&'()*+,;=:[]").contains(c);
  });
}

// Fields that must not occur twice: two programs could choose different ones.
bool is_single(field id, std::string_view name) {
  return id == field::authorization || id == field::content_type || equal_ignoring_case(name, "Idempotency-Key");
}

}  // namespace

// Beast's parser cannot be used for a second message, so each request gets a new one in the old one's place.
class RequestParser::Machine {
 public:
  explicit Machine(ParserLimits limits) : limits_(limits), beast_(std::in_place, *this) {}

  void reset() {
    beast_.emplace(*this);
    head.method.reset();
    head.target.clear();
    head.headers.clear();
    head.http_1_0 = head.keep_alive = head.expects_continue = head.chunked = false;
    head.content_length = 0;
    state = State::head;
    started = false;
    body_limit = UINT64_MAX;
    body_seen_ = 0;
    head_seen_ = 0;
    chunk_left_ = 0;
    in_first_chunk_ = true;
    hosts_ = lengths_ = codings_ = 0;
    trailers_ = 0;
    refused_.reset();
  }

  size_t parse(std::string_view input, std::string& body) {
    body_ = &body;
    size_t used = 0;
    const State before = state;
    while (state == before && used < input.size()) {
      const std::string_view rest = input.substr(used);
      const size_t step = put(rest);
      used += step;
      if (step == 0) break;
    }
    return used;
  }

  RequestHead head;
  State state = State::head;
  ParseError error{};
  bool started = false;
  uint64_t body_limit = UINT64_MAX;

 private:
  class Beast : public beast::http::basic_parser<true> {
   public:
    explicit Beast(Machine& machine) : machine_(machine) {
      header_limit(static_cast<uint32_t>(machine.limits_.head_bytes));
      body_limit(boost::none);  // ours is per route and set later
    }

   private:
    using Error = beast::error_code;
    using Text = beast::string_view;

    void on_request_impl(beast::http::verb, Text method, Text target, int version, Error& failure) override {
      machine_.on_request({method.data(), method.size()}, {target.data(), target.size()}, version, failure);
    }
    void on_field_impl(field name, Text text, Text value, Error& failure) override {
      machine_.on_field(name, {text.data(), text.size()}, {value.data(), value.size()}, failure);
    }
    void on_header_impl(Error& failure) override { machine_.on_head(*this, failure); }
    size_t on_body_impl(Text piece, Error& failure) override {
      return machine_.on_body({piece.data(), piece.size()}, failure);
    }
    size_t on_chunk_body_impl(uint64_t, Text piece, Error& failure) override {
      machine_.chunk_left_ -= piece.size();
      return machine_.on_body({piece.data(), piece.size()}, failure);
    }
    void on_chunk_header_impl(uint64_t size, Text extensions, Error& failure) override {
      if (!is_one_line({extensions.data(), extensions.size()})) machine_.refuse(ParseError::malformed, failure);
      machine_.chunk_left_ = size;
      machine_.in_first_chunk_ = false;
    }
    void on_body_init_impl(const boost::optional<uint64_t>&, Error&) override {}
    void on_response_impl(int, Text, int, Error&) override {}
    void on_finish_impl(Error&) override {}

    Machine& machine_;
  };

  size_t put(std::string_view input) {
    beast::error_code failure;
    started = true;
    input_ = input;
    if (state == State::body && head.chunked && chunk_left_ == 0) {
      // Bytes that cannot begin a chunk are refused at once.
      if (!may_be_chunk_head(input, in_first_chunk_)) {
        fail(beast::http::error::bad_chunk);
        return 0;
      }
      // Beast asserts that a last chunk it has seen the beginning of is at least "0\r\n\r\n" when it looks again.
      // Nothing shorter can end a chunked body, so waiting for that much costs nothing.
      if (input.size() < 5) return 0;
    }
    const size_t used = beast_->put(boost::asio::const_buffer(input.data(), input.size()), failure);
    if (state == State::head) {
      head_seen_ += used;
      const bool too_large = head_seen_ + (beast_->is_header_done() ? 0 : input.size() - used) > limits_.head_bytes;
      if (too_large && !(failure && failure != beast::http::error::need_more))
        failure = beast::http::error::header_limit;
    }
    if (failure && failure != beast::http::error::need_more) {
      fail(failure);
    } else if (beast_->is_done()) {
      state = State::done;
    } else if (beast_->is_header_done()) {
      state = State::body;
    }
    return used;
  }

  void fail(const beast::error_code& failure) {
    state = State::failed;
    if (refused_) {
      error = *refused_;
    } else if (failure == beast::http::error::header_limit) {
      // Beast may look at the first line only once the whole head is there.
      const bool in_target = head.target.empty() && !input_.contains('\n');
      error = in_target ? ParseError::target_too_long : ParseError::head_too_large;
    } else {
      error = ParseError::malformed;
    }
  }

  void refuse(ParseError why, beast::error_code& failure) {
    refused_ = why;
    failure = beast::http::error::bad_value;
  }

  void on_request(std::string_view method, std::string_view target, int version, beast::error_code& failure) {
    if (target.size() > limits_.target_bytes) return refuse(ParseError::target_too_long, failure);
    head.method = parse_method(method);
    head.target.assign(target);
    head.http_1_0 = version == 10;
  }

  // Whether the line went on in the next one: Beast then hands out a copy, or skipped a line end before the value.
  bool is_folded(std::string_view name, std::string_view value) const {
    if (value.data() == nullptr) return false;
    const std::less<const char*> before;
    if (before(value.data(), input_.data()) || before(input_.data() + input_.size(), value.data())) return true;
    const char* const name_end = name.data() + name.size();
    return std::find(name_end, value.data(), '\n') != value.data();
  }

  void on_field(field id, std::string_view name, std::string_view value, beast::error_code& failure) {
    if (is_folded(name, value)) return refuse(ParseError::malformed, failure);
    if (state != State::head) {  // a trailer; no route asks for it
      if (++trailers_ > limits_.header_count) refuse(ParseError::too_many_headers, failure);
      return;
    }
    if (head.headers.size() >= limits_.header_count) return refuse(ParseError::too_many_headers, failure);
    if (id == field::host && (++hosts_ > 1 || !may_be_host(value))) return refuse(ParseError::malformed, failure);
    if (is_single(id, name) && head.headers.find(name)) return refuse(ParseError::malformed, failure);
    if (id == field::content_length && (++lengths_ > 1 || value.contains(','))) {
      return refuse(ParseError::malformed, failure);
    }
    if (id == field::transfer_encoding) {
      if (++codings_ > 1 || head.http_1_0) return refuse(ParseError::malformed, failure);
      if (!equal_ignoring_case(value, "chunked")) return refuse(ParseError::unknown_coding, failure);
    }
    if (id == field::expect) head.expects_continue = equal_ignoring_case(value, "100-continue");
    head.headers.add(name, value);
  }

  void on_head(const Beast& parser, beast::error_code& failure) {
    if (lengths_ > 0 && codings_ > 0) return refuse(ParseError::malformed, failure);
    if (hosts_ == 0 && !head.http_1_0) return refuse(ParseError::malformed, failure);
    head.keep_alive = parser.keep_alive();
    head.chunked = parser.chunked();
    head.content_length = parser.content_length().value_or(0);
  }

  size_t on_body(std::string_view piece, beast::error_code& failure) {
    body_seen_ += piece.size();
    if (body_seen_ > body_limit) {
      refuse(ParseError::body_too_large, failure);
      return 0;
    }
    body_->append(piece);
    return piece.size();
  }

  ParserLimits limits_;
  std::optional<Beast> beast_;
  std::string_view input_;
  std::string* body_ = nullptr;
  uint64_t body_seen_ = 0;
  size_t head_seen_ = 0;
  uint64_t chunk_left_ = 0;  // 0: a chunk's head is next
  bool in_first_chunk_ = true;
  int hosts_ = 0;
  int lengths_ = 0;
  int codings_ = 0;
  size_t trailers_ = 0;
  std::optional<ParseError> refused_;
};

RequestParser::RequestParser(ParserLimits limits) : machine_(std::make_unique<Machine>(limits)) {}
RequestParser::~RequestParser() = default;

void RequestParser::reset() {
  machine_->reset();
}

size_t RequestParser::parse(std::string_view input, std::string& body) {
  check(state() == State::head || state() == State::body, "parse after the end of a request");
  return machine_->parse(input, body);
}

void RequestParser::limit_body(uint64_t bytes) {
  machine_->body_limit = bytes;
}

RequestParser::State RequestParser::state() const {
  return machine_->state;
}
ParseError RequestParser::error() const {
  return machine_->error;
}
bool RequestParser::started() const {
  return machine_->started;
}
const RequestHead& RequestParser::head() const {
  return machine_->head;
}

}  // namespace sluice::http
