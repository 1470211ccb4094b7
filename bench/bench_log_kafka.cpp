// bench_log_kafka: the log on Kafka against Kafka's own tools, on the same private broker.
//
// Messages of 1 KB, JSON, the same for all; acks from all, idempotence, zstd, the same batches and linger. Publishing:
// 256 publishers, each 100 messages a call, against kafka-producer-perf-test (whose messages have no keys). Consuming:
// messaging::Consumer with a handler that does nothing and contiguous commits, against kafka-consumer-perf-test. In
// rotation; medians and their ratios.
//
//   bench_log_kafka [ROUNDS [MESSAGES]]
#include <fstream>
#include <future>
#include <regex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "adapters/kafka/kafka_log.h"
#include "messaging/consumer.h"
#include "runtime/io_threads.h"
#include "runtime/system_clock.h"
#include "tests/support/kafka_broker.h"

namespace sluice {
namespace {

using messaging::Delivery;
using messaging::Handled;
using messaging::Message;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t message_size = 1024;
constexpr size_t publishers = 256;
constexpr size_t messages_a_call = 100;
constexpr int32_t partitions = 6;

// Lines of JSON that compress about as well as real messages; enough of them that none repeats within zstd's window.
std::vector<std::string> make_payloads() {
  SeededRandom random(1);
  std::vector<std::string> payloads;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = fmt::format(R"({{"reservation":"{:016x}","seats":[)", random.next());
    while (text.size() < message_size - 40) {
      text += fmt::format(R"({{"row":{},"number":{},"price":{}}},)", random.next() % 80, random.next() % 60,
                          random.next() % 90'000);
    }
    text.back() = ']';
    text += R"(,"note":")";
    text.resize(message_size - 2, 'x');
    payloads.push_back(text + "\"}");
  }
  return payloads;
}

double rate(size_t count, SteadyClock::time_point start) {
  return static_cast<double>(count) / std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(size_t rounds, size_t messages) : rounds_(rounds), messages_(messages) {
    std::ofstream file(folder_ / "payloads");
    for (const std::string& payload : payloads_) file << payload << "\n";
    threads_.start();
  }
  ~Bench() { wait(log_.close()); }

  void run() {
    std::vector<double> publish, their_publish, consume, their_consume;
    for (size_t round = 0; round < rounds_; ++round) {
      const std::string topic = fmt::format("ours-{}", round);
      const std::string their_topic = fmt::format("theirs-{}", round);
      wait(log_.declare({{.name = topic, .partitions = partitions}, {.name = their_topic, .partitions = partitions}}));
      publish.push_back(publish_all(topic));
      their_publish.push_back(producer_perf_test(their_topic));
      consume.push_back(consume_all(topic));
      their_consume.push_back(consumer_perf_test(topic));
      fmt::print("round {}: publish {:.0f}k/{:.0f}k, consume {:.0f}k/{:.0f}k a second\n", round + 1,
                 publish.back() / 1000, their_publish.back() / 1000, consume.back() / 1000,
                 their_consume.back() / 1000);
      std::fflush(stdout);
    }
    fmt::print("1 KB messages through Kafka (medians of {} rounds of {} messages in rotation)\n", rounds_, messages_);
    print("publish", publish, "kafka-producer-perf-test", their_publish, 0.7);
    print("consume", consume, "kafka-consumer-perf-test", their_consume, 0.5);
  }

 private:
  static void print(const char* what, const std::vector<double>& ours, const char* yardstick,
                    const std::vector<double>& theirs, double bar) {
    fmt::print("  {}: sluice {:.0f}/s, {} {:.0f}/s, ratio {:.2f} (bar {})\n", what, median(ours), yardstick,
               median(theirs), median(ours) / median(theirs), bar);
  }

  template <class Value>
  Value wait(Task<Value> task) {
    return asio::co_spawn(threads_.executor(0), std::move(task), asio::use_future).get();
  }

  Task<> publish_some(std::string topic, size_t publisher) {
    for (size_t sent = publisher * messages_a_call; sent < messages_; sent += publishers * messages_a_call) {
      std::vector<Message> messages;
      messages.reserve(messages_a_call);
      for (size_t i = 0; i < messages_a_call; ++i) {
        messages.push_back({topic, fmt::format("reservation-{}", sent + i), payloads_[(sent + i) % payloads_.size()]});
      }
      const auto outcomes = co_await log_.publish(std::move(messages));
      for (const auto& outcome : outcomes) {
        if (!std::holds_alternative<messaging::Position>(outcome)) throw std::runtime_error("a message was refused");
      }
    }
  }

  double publish_all(const std::string& topic) {
    const auto start = SteadyClock::now();
    std::vector<std::future<void>> all;
    for (size_t i = 0; i < publishers; ++i) {
      all.push_back(asio::co_spawn(threads_.executor(0), publish_some(topic, i), asio::use_future));
    }
    for (auto& each : all) each.get();
    return rate(messages_, start);
  }

  // From the first message to the last one's commit.
  double consume_all(const std::string& topic) {
    const size_t expected = messages_ / messages_a_call * messages_a_call;
    size_t count = 0;
    SteadyClock::time_point first;
    std::promise<void> done;
    const auto handler = [&](const Delivery& delivery) -> Task<Handled> {
      if (count == 0) first = SteadyClock::now();
      if (++count == expected) done.set_value();
      return handle(delivery);
    };
    std::optional<messaging::Consumer> consumer;
    const messaging::ConsumerRole role{.group = "ours", .topics = {topic}, .worker = "bench"};
    consumer.emplace(messaging::ConsumerParts{log_, clock_, random_}, messaging::ConsumerConfig{}, role, handler,
                     threads_.executor(0));
    asio::post(threads_.executor(0), [&] { consumer->start(); });
    done.get_future().get();
    wait(consumer->stop());
    return rate(count, first);
  }
  static Task<Handled> handle(Delivery) { co_return Handled::done(); }

  // "300000 records sent, 123456.7 records/sec (...)", of which the last line is about all.
  double producer_perf_test(const std::string& topic) {
    const std::string said = run_tool(
        {"org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--num-records", std::to_string(messages_),
         "--payload-file", folder_ / "payloads", "--throughput", "-1", "--producer-props",
         "bootstrap.servers=" + broker_.address(), "acks=all", "enable.idempotence=true", "compression.type=zstd",
         fmt::format("batch.size={}", config_.batch), fmt::format("linger.ms={}", config_.linger / 1ms),
         fmt::format("buffer.memory={}", config_.max_pending_bytes)});
    return last_number(said, std::regex(R"(([\d.]+) records/sec)"));
  }

  // Its last line: start, end, MB, MB/s, messages, messages/s, rebalance ms, fetch ms, fetch MB/s, fetch messages/s.
  // The last does not count joining the group.
  double consumer_perf_test(const std::string& topic) {
    const std::string said = run_tool({"org.apache.kafka.tools.ConsumerPerformance", "--topic", topic, "--messages",
                                       std::to_string(messages_), "--bootstrap-server", broker_.address(), "--group",
                                       "theirs-" + topic, "--timeout", "60000", "--hide-header"});
    return last_number(said, std::regex(R"((?:[^,\n]*,){9} *([\d.]+))"));
  }

  static std::string run_tool(std::vector<std::string> command) {
    return test::KafkaBroker::run_tool(std::move(command), {.timeout = 3min, .fast = true});
  }

  static double last_number(const std::string& text, const std::regex& pattern) {
    double number = 0;
    for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found) {
      number = std::stod((*found)[1]);
    }
    if (number <= 0) throw std::runtime_error("Kafka's tool did not tell its figures:\n" + text);
    return number;
  }

  const size_t rounds_;
  const size_t messages_;
  const std::vector<std::string> payloads_ = make_payloads();
  test::TemporaryFolder folder_{"bench-kafka"};
  test::KafkaBroker broker_{{.fast = true}};
  SystemClock clock_;
  SeededRandom random_{2};
  IoThreads threads_{1};
  kafka::KafkaConfig config_{.brokers = broker_.address()};
  kafka::KafkaLog log_{config_, threads_.executor(0), clock_};
};

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  try {
    const size_t rounds = count > 1 ? std::stoul(arguments[1]) : 3;
    const size_t messages = count > 2 ? std::stoul(arguments[2]) : 1'000'000;
    sluice::Bench(rounds, messages).run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_log_kafka: {}\n", error.what());
    return 1;
  }
}
