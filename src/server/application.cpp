#include "server/application.h"

#include <cstdio>
#include <cstdlib>
#include <future>

#include <boost/asio/ip/host_name.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "api/dead_letter_routes.h"
#include "api/document_routes.h"
#include "api/import_routes.h"
#include "api/job_routes.h"
#include "runtime/log.h"
#include "server/blocking.h"
#include "server/demo.h"
#include "server/version.h"

namespace sluice::server {
namespace {

// A process with any role may need to identify callers.
Roles with_accounts(Roles roles) {
  roles.insert(Service::accounts);
  return roles;
}

}  // namespace

Application::Application(const Settings& settings, ServeOptions options)
    : settings_(settings),
      by_hand_(::isatty(STDIN_FILENO) == 1),
      options_(std::move(options)),
      threads_(static_cast<unsigned>(settings.process.threads)),
      background_(1),
      engines_(settings, with_accounts(options_.roles), clock_),
      identity_(settings, engines_.of(Service::accounts), clock_, secrets_),
      scope_(background_.executor(0)),
      callers_(identity_.keys(), clock_, scope_, background_.executor(0)),
      api_(callers_, identity_.audit()),
      streams_(settings.sse, threads_, clock_) {
  run_blocking(starting_, identity_.apply_environment());
  if (options_.demo) demo_key_ = run_blocking(starting_, make_demo_key(identity_.keys()));
  readiness_.engines = engines_.probes();
  api::add_health_routes(api_, clock_, readiness_, scope_, background_.executor(0));
  add_features();
  api::add_docs_routes(api_, std::string(version));
  http::Router router;
  api_.install(router);
  server_ = std::make_unique<http::Server>(settings.http, std::move(router), threads_, clock_);
}

Application::~Application() = default;

void Application::add_messages() {
  const bool relays = options_.roles.contains(Service::relay);
  if (!relays && !options_.roles.contains(Service::jobs)) return;
  const auto engine = chosen_log_engine(settings_);
  if (!engine) return;
  messages_ = std::make_unique<MessageParts>(settings_, *engine, engines_, clock_, secrets_, background_.executor(0));
  if (relays) api::add_dead_letter_routes(api_, messages_->dead_letters());
  if (*engine == LogEngine::kafka) {
    readiness_.engines.push_back({"kafka", [this] { return messages_->reach(); }, false});
  }
}

void Application::add_features() {
  if (settings_.errors.used()) {
    sentry::Sender sender{.release = fmt::format("sluice@{}", version),
                          .environment = settings_.errors.environment,
                          .server = asio::ip::host_name()};
    errors_ = std::make_unique<sentry::SentrySink>(settings_.errors, std::move(sender), clock_, secrets_,
                                                   background_.executor(0));
  }
  add_messages();
  if (options_.roles.contains(Service::documents)) {
    documents_ = std::make_unique<DocumentParts>(settings_.documents, engines_.of(Service::documents), clock_, secrets_,
                                                 scope_, background_.executor(0));
    api::add_document_routes(api_, documents_->documents(), clock_);
  }
  if (options_.roles.contains(Service::jobs)) {
    jobs_ = std::make_unique<JobParts>(settings_.jobs, settings_.messaging.inbox, engines_.of(Service::jobs), clock_,
                                       secrets_, errors_.get(), background_.executor(0));
    jobs_->hear_others(engines_);
    api::add_job_routes(api_, jobs_->jobs());
    links_ = std::make_unique<LinkParts>(settings_.links, engines_.of(Service::jobs), *jobs_, streams_, clock_,
                                         secrets_, background_.executor(0));
    api::add_import_routes(api_, links_->imports(), links_->import_stream());
    api::add_link_routes(api_, links_->links());
    if (settings_.links.enrich) {
      enrichment_ = std::make_unique<EnrichmentParts>(*links_, jobs_->kinds().of(links::enrich_link).throttle, clock_,
                                                      background_.executor(0));
      enrichment_->register_with(jobs_->handlers());
    }
  }
}

void Application::run_in_background(Task<> task) {
  std::promise<void> ended;
  asio::co_spawn(background_.executor(0), std::move(task),
                 [&ended](const std::exception_ptr& error) { error ? ended.set_exception(error) : ended.set_value(); });
  ended.get_future().get();
}

void Application::run() {
  // Before the address is announced: its reader may stop the server at once.
  asio::io_context here;
  asio::signal_set signals(here, SIGTERM, SIGINT, SIGHUP);
  background_.start();
  threads_.start();
  asio::post(background_.executor(0), [this] {
    if (errors_) errors_->start();
    if (messages_) messages_->start(scope_);
    if (documents_) documents_->start_limits();
    if (documents_) documents_->documents().start();
    if (jobs_) jobs_->start(scope_, messages_ ? &messages_->log() : nullptr, settings_.messaging.consumers);
    if (links_) links_->start(scope_);
  });
  try {
    server_->start();
  } catch (...) {
    close();
    throw;
  }
  log::info("serving", {{"url", server_->url()}, {"version", version}});
  fmt::print("listening on {}\n", server_->url());
  std::fflush(stdout);
  if (options_.demo) fmt::print(stderr, "{}", demo_hint(settings_, server_->url(), demo_key_));

  wait_for_stop(here, signals);
  // Restores the default action, so a second signal ends the process at once. SIGHUP still does not end it.
  signals.remove(SIGTERM);
  signals.remove(SIGINT);
  announce_stop(here);
  if (jobs_) jobs_->jobs().end_waits();
  streams_.drain();
  server_->drain(settings_.process.drain);
  close();
  log::info("stopped");
}

void Application::wait_for_stop(asio::io_context& here, asio::signal_set& signals) {
  while (true) {
    int number = 0;
    signals.async_wait([&number](const boost::system::error_code&, int received) { number = received; });
    here.restart();
    while (number == 0) here.run_one();
    // A closed terminal also sends SIGHUP; standard input is then no longer a terminal.
    const bool terminal_closed = by_hand_ && ::isatty(STDIN_FILENO) == 0;
    if (number != SIGHUP || terminal_closed) return;
    server_->reload_certificate();
  }
}

void Application::announce_stop(asio::io_context& here) {
  const Duration delay = by_hand_ ? Duration{0} : settings_.process.drain_delay;
  readiness_.draining = true;
  log::info("stopping", {{"drain_delay_ms", std::chrono::floor<std::chrono::milliseconds>(delay).count()}});
  run_blocking(here, clock_.sleep_for(delay));
}

void Application::close() {
  if (jobs_) run_in_background(jobs_->stop());
  if (enrichment_) run_in_background(enrichment_->close());
  run_in_background(scope_.close());
  if (documents_) run_in_background(documents_->close());
  if (messages_) run_in_background(messages_->close());
  if (errors_) run_in_background(errors_->close());
  threads_.stop();
  background_.stop();
}

}  // namespace sluice::server
