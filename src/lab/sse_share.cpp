#include "lab/sse_share.h"

#include "http/syntax.h"

namespace sluice::lab {
namespace {
// New streams for each tick: few enough that the listener's queue is not measured.
constexpr unsigned opened_each_tick = 100;
}  // namespace

class SseShare::Stream : public Wire::Listener {
 public:
  Stream(SseShare& share, std::string request)
      : share_(share),
        wire_(share.setup_.context, *this, share.setup_.scratch, share.setup_.tally.traffic),
        request_(std::move(request)) {}

  void open(SteadyTime now) {
    state_ = State::opening;
    since_ = now;
    heard_ = false;
    asked_ = request_;
    const std::string& id = reader_.last_id();
    if (!id.empty() && http::is_field_value(id)) asked_.insert(asked_.size() - 2, "Last-Event-ID: " + id + "\r\n");
    ++share_.setup_.tally.started;
    wire_.ask(share_.setup_.endpoint, asked_, false);
  }

  void tick(SteadyTime now) {
    if (state_ == State::waiting && now >= since_ + share_.reconnect_) {
      ++share_.setup_.tally.reopened;
      open(now);
    } else if (state_ == State::opening && now >= since_ + share_.setup_.timeout) {
      wire_.close();
      on_failure(LoadFailure::timeout);
    }
  }

  void on_head(int status) override {
    state_ = State::open;
    ++share_.setup_.tally.statuses[static_cast<size_t>(status)];
    if (status == 200) ++share_.setup_.tally.streams;
  }

  void on_body(std::string_view piece) override {
    const SseReader::Seen seen = reader_.read(piece);
    share_.setup_.tally.comments += seen.comments;
    if (seen.events == 0) return;
    const SteadyTime now = SteadyClock::now();
    Histogram& histogram = heard_ ? share_.setup_.tally.gap : share_.setup_.tally.first_event;
    histogram.record(now - (heard_ ? last_ : since_));
    heard_ = true;
    last_ = now;
    share_.setup_.tally.events += seen.events;
    share_.setup_.live.answers.fetch_add(seen.events, std::memory_order_relaxed);
  }

  void on_end() override { on_failure(LoadFailure::closed); }

  void on_failure(LoadFailure failure) override {
    wire_.close();
    // A stream that was open and ended is opened again; that is how they live.
    if (state_ == State::opening) {
      ++share_.setup_.tally.failures[failure];
      share_.setup_.live.failures.fetch_add(1, std::memory_order_relaxed);
    }
    state_ = State::waiting;
    since_ = SteadyClock::now();
  }

 private:
  enum class State { opening, open, waiting };

  SseShare& share_;
  Wire wire_;
  SseReader reader_;
  std::string request_;
  std::string asked_;
  State state_ = State::waiting;
  bool heard_ = false;
  SteadyTime since_;  // the state began
  SteadyTime last_;   // an event came
};

SseShare::SseShare(ShareSetup setup, Duration reconnect) : setup_(std::move(setup)), reconnect_(reconnect) {}

SseShare::~SseShare() = default;

bool SseShare::tick(SteadyTime now) {
  if (now >= end_) return false;
  for (const auto& stream : streams_) stream->tick(now);
  for (unsigned i = 0; i < opened_each_tick && streams_.size() < setup_.connections; ++i) {
    streams_.push_back(std::make_unique<Stream>(*this, setup_.requests[streams_.size() % setup_.requests.size()]));
    streams_.back()->open(now);
  }
  return true;
}

}  // namespace sluice::lab
