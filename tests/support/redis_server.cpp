#include "tests/support/redis_server.h"

#include <filesystem>
#include <fstream>

#include <signal.h>

#include "tests/support/free_port.h"

namespace sluice::test {
namespace {

constexpr const char* program = "/usr/bin/redis-server";

}  // namespace

std::optional<std::string> RedisServer::why_missing() {
  if (std::filesystem::exists(program)) return std::nullopt;
  return "Redis is not installed (apt install redis-server)";
}

RedisServer::RedisServer(RedisOptions options)
    : options_(std::move(options)), port_(free_port()), folder_("sluice-redis") {
  std::ofstream settings(folder_ / "redis.conf");
  settings << "bind 127.0.0.1\n"
           << "port " << port_ << "\n"
           << "dir " << folder_.path().string() << "\n"
           << "save \"\"\n"
           << "enable-debug-command local\n"
           << (options_.durable ? "appendonly yes\nappendfsync always\n" : "appendonly no\n");
  for (const std::string& setting : options_.settings) settings << setting << "\n";
  settings.close();
  start();
}

std::string RedisServer::url() const {
  return fmt::format("redis://127.0.0.1:{}", port_);
}

void RedisServer::start() {
  paused_ = false;
  process_.emplace(ProcessOptions{.arguments = {program, folder_ / "redis.conf"}});
  process_->wait_for_line("Ready to accept connections");
}

void RedisServer::start_empty() {
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().filename() != "redis.conf") std::filesystem::remove_all(entry.path());
  }
  start();
}

void RedisServer::stop() {
  process_->signal(SIGTERM);
  process_->wait();
}

void RedisServer::pause() {
  process_->signal_tree(SIGSTOP);
  paused_ = true;
}

void RedisServer::resume() {
  process_->signal_tree(SIGCONT);
  paused_ = false;
}

std::string RedisServer::cli(std::vector<std::string> command) const {
  std::vector<std::string> arguments = {"redis-cli", "-e", "--raw", "-h", "127.0.0.1", "-p", std::to_string(port_)};
  arguments.insert(arguments.end(), options_.cli_arguments.begin(), options_.cli_arguments.end());
  arguments.insert(arguments.end(), command.begin(), command.end());
  std::string output = run_program({.arguments = std::move(arguments)});
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

}  // namespace sluice::test
