#include "lab/load_report.h"

#include "base/json.h"

namespace sluice::lab {
namespace {

constexpr auto acceptable_lag = 2ms;
constexpr double acceptable_cpu = 0.95;
constexpr std::array<std::pair<std::string_view, double>, 4> shown_percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};

double milliseconds(std::chrono::nanoseconds duration) {
  return static_cast<double>(duration.count()) / 1e6;
}

double seconds(Duration duration) {
  return std::max(1e-6, static_cast<double>(duration.count()) / 1e6);
}

double cpu_share(const LoadOptions& options, const LoadResult& result) {
  return seconds(result.cpu) / seconds(result.elapsed) / options.threads;
}

std::string_view mode(const LoadOptions& options) {
  if (options.sse) return "sse";
  return options.rate ? "open" : "closed";
}

std::string line_of(const Histogram& histogram) {
  std::string line;
  for (const auto& [label, share] : shown_percentiles) {
    line += fmt::format("{} {:.3f}  ", label, milliseconds(histogram.percentile(share)));
  }
  return line + fmt::format("max {:.3f} ms", milliseconds(histogram.max()));
}

void write_histogram(json::Writer& writer, std::string_view name, const Histogram& histogram) {
  writer.key(name).begin_object();
  writer.field("count", histogram.count()).field("mean", milliseconds(histogram.mean()));
  for (const auto& [label, share] : shown_percentiles) {
    writer.field(label, milliseconds(histogram.percentile(share)));
  }
  writer.field("max", milliseconds(histogram.max())).end_object();
}

void write_counts(json::Writer& writer, const LoadTally& tally) {
  writer.key("statuses").begin_object();
  for (size_t status = 0; status < tally.statuses.size(); ++status) {
    if (tally.statuses[status] > 0) writer.field(std::to_string(status), tally.statuses[status]);
  }
  writer.end_object();
  writer.key("errors").begin_object();
  for (const auto& [failure, count] : tally.failures) writer.field(name(failure), count);
  writer.end_object();
}

void write_streams(json::Writer& writer, const LoadTally& tally) {
  writer.key("streams").begin_object();
  writer.field("opened", tally.streams).field("reopened", tally.reopened);
  writer.field("events", tally.events).field("comments", tally.comments).end_object();
  write_histogram(writer, "firstEventMs", tally.first_event);
  write_histogram(writer, "gapMs", tally.gap);
}

void write_requests(json::Writer& writer, const LoadTally& tally) {
  writer.key("requests").begin_object();
  writer.field("intended", tally.intended).field("started", tally.started);
  writer.field("answered", tally.answers()).field("failed", tally.failed()).end_object();
  write_histogram(writer, "latencyMs", tally.latency);
  write_histogram(writer, "serviceMs", tally.service);
  writer.key("late").begin_object();
  writer.field("started", tally.late).field("backlog", tally.backlog).end_object();
}

void write_documents(json::Writer& writer, const LoadTally& tally) {
  writer.key("documents").begin_object().field("misses", tally.misses);
  writer.key("sources").begin_object();
  for (const auto& [source, count] : tally.sources) writer.field(source, count);
  writer.end_object().end_object();
}

std::string counts_text(const LoadTally& tally) {
  std::string text = "statuses   ";
  for (size_t status = 0; status < tally.statuses.size(); ++status) {
    if (tally.statuses[status] > 0) text += fmt::format("{}: {}  ", status, tally.statuses[status]);
  }
  text += "\nerrors     ";
  if (tally.failures.empty()) text += "none";
  for (const auto& [failure, count] : tally.failures) text += fmt::format("{}: {}  ", name(failure), count);
  return text + '\n';
}

std::string streams_text(const LoadTally& tally, Duration elapsed) {
  std::string text =
      fmt::format("streams    {} opened, {} opened again after their end\n", tally.streams, tally.reopened);
  text += fmt::format("events     {} ({:.1f}/s), {} comments\n", tally.events,
                      static_cast<double>(tally.events) / seconds(elapsed), tally.comments);
  text += fmt::format("first      {}\n", line_of(tally.first_event));
  return text + fmt::format("gap        {}\n", line_of(tally.gap));
}

std::string documents_text(const LoadTally& tally) {
  std::string text = "documents  ";
  for (const auto& [source, count] : tally.sources) text += fmt::format("{}: {}  ", source, count);
  return text + fmt::format("({} lookups missed and asked for a download)\n", tally.misses);
}

std::string requests_text(const LoadOptions& options, const LoadTally& tally, Duration elapsed) {
  std::string text =
      fmt::format("requests   {} intended, {} answered ({:.1f}/s), {} failed\n", tally.intended, tally.answers(),
                  static_cast<double>(tally.answers()) / seconds(elapsed), tally.failed());
  text += fmt::format("latency    {}{}\n", line_of(tally.latency),
                      options.rate ? "  (from when a request should have started)" : "");
  if (options.rate) {
    text += fmt::format("service    {}  (from when it was sent)\n", line_of(tally.service));
    text += fmt::format("late       {} started over 1 ms late; at most {} waited at once\n", tally.late, tally.backlog);
  }
  return text;
}

}  // namespace

double failure_ratio(const LoadOptions& options, const LoadTally& tally) {
  uint64_t failures = tally.failed();
  for (size_t status = 400; status < tally.statuses.size(); ++status) {
    if (!options.accept.contains(static_cast<int>(status))) failures += tally.statuses[status];
  }
  const uint64_t all = options.sse ? tally.started : tally.intended;
  return all == 0 ? 1.0 : static_cast<double>(failures) / static_cast<double>(all);
}

bool generator_overloaded(const LoadOptions& options, const LoadResult& result) {
  // A closed loop takes all the time it can get; only a schedule can be missed.
  if (!options.rate) return false;
  return result.tally.lag.percentile(0.99) > acceptable_lag || cpu_share(options, result) > acceptable_cpu;
}

std::string text_report(const LoadOptions& options, const LoadResult& result) {
  const LoadTally& tally = result.tally;
  const char* shape = options.ramp.empty() ? "of" : "that grows to";
  const std::string rate = options.rate ? fmt::format(" {} {} requests/s", shape, *options.rate) : "";
  std::string text =
      fmt::format("{} loop{}, {} URL(s), at most {} connections, {} thread(s), {:.3f} s\n", mode(options), rate,
                  options.urls.size(), result.connections, options.threads, seconds(result.elapsed));
  text += options.sse ? streams_text(tally, result.elapsed) : requests_text(options, tally, result.elapsed);
  if (options.follow_up) text += documents_text(tally);
  text += counts_text(tally);
  text += fmt::format("bytes      {} sent, {} received ({:.3f} MB/s)\n", tally.traffic.sent, tally.traffic.received,
                      static_cast<double>(tally.traffic.received) / seconds(result.elapsed) / 1e6);
  text += fmt::format("generator  {:.0f} % of its processor time used", cpu_share(options, result) * 100);
  if (options.rate) text += fmt::format("; lag p99 {:.3f} ms", milliseconds(tally.lag.percentile(0.99)));
  if (generator_overloaded(options, result)) {
    text +=
        "\nWARNING    the generator was too slow: use more --threads or a lower --rate; these figures do not "
        "describe the server";
  }
  return text + '\n';
}

std::string json_report(const LoadOptions& options, const LoadResult& result) {
  const LoadTally& tally = result.tally;
  std::string text;
  json::Writer writer(text);
  writer.begin_object().field("mode", mode(options));
  writer.key("urls").begin_array();
  for (const http::Url& url : options.urls) writer.string(url.to_string());
  writer.end_array();
  if (options.rate) writer.field("rate", *options.rate);
  writer.field("connections", uint64_t{result.connections}).field("threads", uint64_t{options.threads});
  writer.field("seconds", seconds(result.elapsed));
  if (options.sse) {
    write_streams(writer, tally);
  } else {
    write_requests(writer, tally);
  }
  if (options.follow_up) write_documents(writer, tally);
  write_counts(writer, tally);
  writer.key("traffic").begin_object();
  writer.field("sentBytes", tally.traffic.sent).field("receivedBytes", tally.traffic.received);
  writer.field("connectionsMade", tally.traffic.connections).field("reconnects", tally.traffic.reconnects).end_object();
  writer.key("perSecond").begin_object();
  writer.field("answers", static_cast<double>(tally.answers()) / seconds(result.elapsed));
  writer.field("receivedBytes", static_cast<double>(tally.traffic.received) / seconds(result.elapsed)).end_object();
  writer.field("failureRatio", failure_ratio(options, tally));
  writer.key("generator").begin_object();
  writer.field("cpuSeconds", seconds(result.cpu)).field("cpuShare", cpu_share(options, result));
  write_histogram(writer, "lagMs", tally.lag);
  writer.field("overloaded", generator_overloaded(options, result)).end_object();
  writer.end_object();
  return text + '\n';
}

}  // namespace sluice::lab
