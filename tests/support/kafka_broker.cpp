#include "tests/support/kafka_broker.h"

#include <fstream>

#include <fmt/ranges.h>
#include <signal.h>

#include "tests/support/cache_folder.h"
#include "tests/support/free_port.h"

namespace sluice::test {
namespace fs = std::filesystem;
namespace {

constexpr const char* kafka_version = "3.9.1";

constexpr const char* project = R"(<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>sluice</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>VERSION</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>VERSION</version></dependency>
  </dependencies>
</project>
)";

// Standard output, only warnings and errors.
constexpr const char* logging = R"(
log4j.rootLogger=WARN, out
log4j.logger.kafka.server.KafkaRaftServer=INFO
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
)";

// Few threads, no waiting for members or replicas that might still come, losses noticed in seconds.
constexpr const char* common_settings = R"(
process.roles=broker,controller
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
auto.create.topics.enable=false
num.network.threads=1
num.io.threads=2
num.recovery.threads.per.data.dir=1
background.threads=2
log.cleaner.enable=false
log.initial.task.delay.ms=500
log.retention.check.interval.ms=500
offsets.topic.num.partitions=2
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
broker.heartbeat.interval.ms=400
broker.session.timeout.ms=2000
controlled.shutdown.retry.backoff.ms=200
)";

void download(const fs::path& target) {
  std::string pom = project;
  for (size_t at; (at = pom.find("VERSION")) != std::string::npos;) pom.replace(at, 7, kafka_version);
  std::ofstream(target / "pom.xml") << pom;
  run_program({.arguments = {"mvn", "--batch-mode", "--quiet", "--file", target / "pom.xml",
                             "dependency:copy-dependencies", "-DoutputDirectory=" + (target / "jars").string()}},
              5min);
}

// Java that starts soon, or that runs fast.
std::vector<std::string> java(bool fast) {
  if (fast) return {"java", "-XX:-UsePerfData", "-Xms512m", "-Xmx512m"};
  return {"java", "-XX:-UsePerfData", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx192m"};
}

// Whether all of its threads have stopped: each goes on until it notices the signal. "PID (NAME) STATE ..."
bool is_stopped(pid_t pid) {
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    std::string stat;
    std::getline(std::ifstream(thread.path() / "stat"), stat);
    const size_t name_end = stat.rfind(") ");
    if (name_end != std::string::npos && stat.at(name_end + 2) != 'T') return false;
  }
  return true;
}

// The jars, downloaded once.
std::string class_path() {
  return cached(fmt::format("kafka-{}", kafka_version), download) / "jars" / "*";
}

}  // namespace

KafkaNode KafkaNode::with_free_ports(int id) {
  return {.id = id, .port = free_port(), .controller_port = free_port()};
}

std::optional<std::string> KafkaBroker::why_missing() {
  try {
    run_program({.arguments = {"java", "-version"}});
    class_path();
    return std::nullopt;
  } catch (const std::exception& error) {
    return fmt::format("Apache Kafka is not available (apt install openjdk-17-jre-headless maven): {}", error.what());
  }
}

KafkaBroker::KafkaBroker(KafkaOptions options) : KafkaBroker(std::move(options), KafkaNode::with_free_ports(1), {}) {
  start();
}

KafkaBroker::KafkaBroker(KafkaOptions options, KafkaNode self, const std::vector<KafkaNode>& voters)
    : options_(std::move(options)), self_(self), folder_("sluice-kafka") {
  write_settings(voters.empty() ? std::vector{self_} : voters);
}

std::string KafkaBroker::address() const {
  return fmt::format("127.0.0.1:{}", self_.port);
}

void KafkaBroker::write_settings(const std::vector<KafkaNode>& voters) const {
  std::vector<std::string> places;
  for (const KafkaNode& node : voters) places.push_back(fmt::format("{}@127.0.0.1:{}", node.id, node.controller_port));
  const size_t replicas = std::min<size_t>(3, voters.size());
  std::ofstream settings(folder_ / "server.properties");
  settings << common_settings << "node.id=" << self_.id << "\n"
           << "controller.quorum.voters=" << fmt::format("{}", fmt::join(places, ",")) << "\n"
           << "listeners=PLAINTEXT://127.0.0.1:" << self_.port << ",CONTROLLER://127.0.0.1:" << self_.controller_port
           << "\n"
           << "log.dirs=" << (folder_ / "data").string() << "\n"
           << "offsets.topic.replication.factor=" << replicas << "\n"
           << "transaction.state.log.replication.factor=" << replicas << "\n"
           << "transaction.state.log.min.isr=" << (replicas + 1) / 2 << "\n";
  for (const std::string& setting : options_.settings) settings << setting << "\n";
  std::ofstream(folder_ / "log4j.properties") << logging;

  // The file that kafka-storage.sh would write, without starting another Java. Ids are any 16 bytes as base64url.
  fs::create_directory(folder_ / "data");
  std::ofstream(folder_ / "data/meta.properties")
      << "version=1\ncluster.id=c2x1aWNlLXRlc3RzLWthZg\nnode.id=" << self_.id << "\n"
      << "directory.id=c2x1aWNlLWRpcmVjdG9" << self_.id << "eQ\n";
}

void KafkaBroker::start() {
  launch();
  wait_until_serving();
}

void KafkaBroker::launch() {
  launch_with("-XX:SharedArchiveFile=" + class_archive());
}

void KafkaBroker::launch_with(std::string java_option) {
  std::vector<std::string> arguments = java(options_.fast);
  arguments.push_back(std::move(java_option));
  arguments.push_back("-Dlog4j.configuration=file:" + (folder_ / "log4j.properties").string());
  arguments.insert(arguments.end(), {"-cp", class_path(), "kafka.Kafka", folder_ / "server.properties"});
  process_.emplace(ProcessOptions{.arguments = std::move(arguments)});
}

std::string KafkaBroker::class_archive() {
  const auto make = [](const fs::path& target) {
    KafkaBroker first({}, KafkaNode::with_free_ports(1), {});
    first.launch_with("-XX:ArchiveClassesAtExit=" + (target / "kafka.jsa").string());
    first.wait_until_serving();
    first.stop();
  };
  return cached(fmt::format("kafka-{}-classes", kafka_version), make) / "kafka.jsa";
}

void KafkaBroker::wait_until_serving() {
  process_->wait_for_line("Kafka Server started", 2min);
}

void KafkaBroker::stop() {
  process_->signal(SIGTERM);
  process_->wait();
}

void KafkaBroker::pause() {
  process_->signal_tree(SIGSTOP);
  while (!is_stopped(process_->pid())) {
  }
}

void KafkaBroker::resume() {
  process_->signal_tree(SIGCONT);
}

std::string KafkaBroker::run_tool(std::vector<std::string> command, ToolOptions options) {
  std::vector<std::string> arguments = java(options.fast);
  arguments.insert(arguments.end(), {"-cp", class_path()});
  arguments.insert(arguments.end(), command.begin(), command.end());
  return run_program({.arguments = std::move(arguments)}, options.timeout);
}

}  // namespace sluice::test
