#include "lab/sse_lane.h"

#include "http/syntax.h"

namespace sluice::lab {
namespace {
// New streams for each tick: few enough that the listener's queue is not measured.
constexpr unsigned opened_each_tick = 100;
}  // namespace

class SseLane::Stream : public Wire::Listener {
 public:
  Stream(SseLane& lane, std::string request)
      : lane_(lane),
        wire_(lane.setup_.context, *this, lane.setup_.scratch, lane.setup_.tally.traffic),
        request_(std::move(request)) {}

  void open(SteadyTime now) {
    state_ = State::opening;
    since_ = now;
    heard_ = false;
    asked_ = request_;
    const std::string& id = reader_.last_id();
    if (!id.empty() && http::is_field_value(id)) asked_.insert(asked_.size() - 2, "Last-Event-ID: " + id + "\r\n");
    ++lane_.setup_.tally.started;
    wire_.ask(lane_.setup_.endpoint, asked_, false);
  }

  void tick(SteadyTime now) {
    if (state_ == State::waiting && now >= since_ + lane_.reconnect_) {
      ++lane_.setup_.tally.reopened;
      open(now);
    } else if (state_ == State::opening && now >= since_ + lane_.setup_.timeout) {
      wire_.close();
      on_failure(LoadFailure::timeout);
    }
  }

  void on_head(int status) override {
    state_ = State::open;
    ++lane_.setup_.tally.statuses[static_cast<size_t>(status)];
    if (status == 200) ++lane_.setup_.tally.streams;
  }

  void on_body(std::string_view piece) override {
    const SseReader::Seen seen = reader_.read(piece);
    lane_.setup_.tally.comments += seen.comments;
    if (seen.events == 0) return;
    const SteadyTime now = SteadyClock::now();
    Histogram& histogram = heard_ ? lane_.setup_.tally.gap : lane_.setup_.tally.first_event;
    histogram.record(now - (heard_ ? last_ : since_));
    heard_ = true;
    last_ = now;
    lane_.setup_.tally.events += seen.events;
    lane_.setup_.live.answers.fetch_add(seen.events, std::memory_order_relaxed);
  }

  void on_end() override { on_failure(LoadFailure::closed); }

  void on_failure(LoadFailure failure) override {
    wire_.close();
    // A stream that was open and ended is opened again; that is how they live.
    if (state_ == State::opening) {
      ++lane_.setup_.tally.failures[failure];
      lane_.setup_.live.failures.fetch_add(1, std::memory_order_relaxed);
    }
    state_ = State::waiting;
    since_ = SteadyClock::now();
  }

 private:
  enum class State { opening, open, waiting };

  SseLane& lane_;
  Wire wire_;
  SseReader reader_;
  std::string request_;
  std::string asked_;
  State state_ = State::waiting;
  bool heard_ = false;
  SteadyTime since_;  // the state began
  SteadyTime last_;   // an event came
};

SseLane::SseLane(LaneSetup setup, Duration reconnect) : setup_(std::move(setup)), reconnect_(reconnect) {}

SseLane::~SseLane() = default;

bool SseLane::tick(SteadyTime now) {
  if (now >= end_) return false;
  for (const auto& stream : streams_) stream->tick(now);
  for (unsigned i = 0; i < opened_each_tick && streams_.size() < setup_.connections; ++i) {
    streams_.push_back(std::make_unique<Stream>(*this, setup_.requests[streams_.size() % setup_.requests.size()]));
    streams_.back()->open(now);
  }
  return true;
}

}  // namespace sluice::lab
