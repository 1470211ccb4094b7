// A private Apache Kafka on a free port: one process that is broker and controller (KRaft).
//
//   KafkaBroker kafka;
//   connect(kafka.address());
//   kafka.kill();
//   kafka.start();
//
// The jars come from Maven once per machine. It listens on 127.0.0.1 only, makes no topic by itself, looks after
// retention every half second, and dies with this object, also when the test crashes. Several of them are a
// KafkaCluster.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {

struct KafkaOptions {
  // More settings, as server.properties has them: "message.max.bytes=1000". They win over ours.
  std::vector<std::string> settings = {};
  // For measuring: Java's optimizing compiler and room in memory. It starts more slowly.
  bool fast = false;
};

// The address of a node of a cluster; in a cluster of one it is the only voter.
struct KafkaNode {
  int id = 1;
  uint16_t port = 0;
  uint16_t controller_port = 0;

  // With ports that are free now.
  static KafkaNode with_free_ports(int id);
};

class KafkaBroker {
 public:
  // Returns when it serves. Throws std::runtime_error with its log when it does not.
  explicit KafkaBroker(KafkaOptions options = {});
  // A node of a cluster; not started.
  KafkaBroker(KafkaOptions options, KafkaNode self, const std::vector<KafkaNode>& voters);

  // The reason why it is not available; nothing if it is. Downloads it if necessary. Tests report it and skip
  // (SLUICE_NEEDS).
  static std::optional<std::string> why_missing();

  int id() const { return self_.id; }
  uint16_t port() const { return self_.port; }
  // "127.0.0.1:PORT"
  std::string address() const;

  // After stop or kill: the same port and data.
  void start();
  // The two halves of it: the nodes of a new cluster can't serve before they have met.
  void launch();
  void wait_until_serving();

  // Shuts down in order: others take over its partitions first.
  void stop();
  // SIGKILL.
  void kill() { process_->kill(); }
  // SIGSTOP, and SIGCONT. Paused means that nothing is answered any more.
  void pause();
  void resume();
  bool running() { return process_ && process_->running(); }

  // The output of a program of Kafka: {"org.apache.kafka.tools.TopicCommand", "--list", ...}. Throws std::runtime_error
  // with the output if it fails.
  struct ToolOptions {
    Duration timeout = 1min;
    bool fast = false;  // as for KafkaOptions
  };
  static std::string run_tool(std::vector<std::string> command, ToolOptions options);
  static std::string run_tool(std::vector<std::string> command) { return run_tool(std::move(command), {}); }

  std::string log() const { return process_->output(); }

 private:
  void write_settings(const std::vector<KafkaNode>& voters) const;
  void launch_with(std::string java_option);
  // The classes that a broker loads, as Java maps them into memory: with them a start takes half of the CPU time. The
  // first broker of a machine makes it. Where it does not fit, because Java was updated, Java goes without it.
  static std::string class_archive();

  KafkaOptions options_;
  KafkaNode self_;
  TemporaryFolder folder_;
  std::optional<Process> process_;
};

}  // namespace sluice::test
