#include <iostream>

#include <boost/asio/ip/host_name.hpp>
#include <fmt/format.h>
#include <pwd.h>
#include <termios.h>
#include <unistd.h>

#include "accounts/remembered_callers.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/commands.h"
#include "server/engines.h"
#include "server/identity.h"
#include "server/printable.h"
#include "server/system_random.h"

namespace sluice::server {
namespace {

// The user that runs the command, for the audit log.
std::string this_person() {
  const passwd* const user = ::getpwuid(::getuid());
  const std::string name = user == nullptr ? fmt::format("user {}", ::getuid()) : user->pw_name;
  return fmt::format("{} on {} (command line)", name, asio::ip::host_name());
}

// Shared by all admin commands, which may run beside the server that owns the data folder.
struct Office {
  explicit Office(const Settings& settings)
      : engines(settings, {Service::accounts}, clock, Engines::Access::beside_owner),
        identity(settings, engines.of(Service::accounts), clock, secrets) {}

  // Called before the action: an action that cannot be recorded is not carried out.
  void record(std::string action, std::string target = {}) {
    accounts::AuditEntry entry{.actor = this_person(), .action = std::move(action), .target = std::move(target)};
    run_blocking(here, identity.audit().record(std::move(entry)));
  }

  asio::io_context here;
  SystemClock clock;
  SystemRandom secrets;
  Engines engines;
  Identity identity;
};

// Runs `work` with an office; prints a failure and returns its exit code.
int in_office(const CommonFlags& flags, const std::function<int(Office&)>& work) {
  const auto loaded = settings_or_complain(flags);
  if (!loaded) return asked_wrongly;
  try {
    Office office(loaded->settings);
    return work(office);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sluice: {}\n", error.what());
    return failed;
  }
}

// Reads a line from the terminal without echo, or from a pipe.
std::string read_password() {
  termios before{};
  const bool terminal = ::tcgetattr(STDIN_FILENO, &before) == 0;
  if (terminal) {
    fmt::print(stderr, "Password: ");
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &silent);
  }
  std::string line;
  std::getline(std::cin, line);
  if (terminal) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
    fmt::print(stderr, "\n");
  }
  return line;
}

int create_administrator(Office& office, const std::string& email) {
  const std::string password = read_password();
  office.record("create");
  const auto created = run_blocking(office.here, office.identity.create_administrator(email, password));
  if (!created) {
    fmt::print(stderr, "sluice: {}\n", accounts::explain(created.error()));
    return failed;
  }
  fmt::print("{}\n", created->text());
  return 0;
}

struct KeyFlags {
  std::string id;
  std::string name;
  std::string role;
  std::string expires;
  std::string grace = "1h";
};

// The secret alone on standard output, so that scripts can take it.
void print_secret(const accounts::NewApiKey& made, const std::string& about) {
  fmt::print(stderr, "key {} {}; it is shown only once:\n", made.id.text(), about);
  fmt::print("{}\n", made.secret);
}

int create_key(Office& office, const KeyFlags& flags) {
  if (flags.name == accounts::ApiKeys::environment_name) {
    fmt::print(stderr, "sluice: the name {} is reserved for the key in SLUICE_SERVICE_KEY; choose another\n",
               flags.name);
    return asked_wrongly;
  }
  office.record("create-key", fmt::format("{} ({})", flags.name, flags.role));
  const auto role = accounts::parse_role(flags.role);
  const auto made =
      run_blocking(office.here, office.identity.keys().create(flags.name, *role, parse_duration(flags.expires)));
  print_secret(made, fmt::format("for {} ({})", flags.name, flags.role));
  return 0;
}

int no_such_key(const std::string& id) {
  fmt::print(stderr, "sluice: there is no valid key {}; `sluice admin list-keys` lists all keys\n", id);
  return failed;
}

int rotate_key(Office& office, const KeyFlags& flags) {
  const auto id = Id<accounts::CallerTag>::parse(flags.id);
  if (!id) return no_such_key(flags.id);
  office.record("rotate-key", flags.id);
  const Duration grace = parse_duration(flags.grace).value();
  const auto made = run_blocking(office.here, office.identity.keys().rotate(*id, grace, parse_duration(flags.expires)));
  if (made) {
    print_secret(*made, fmt::format("replaces {}, which works for {} longer", flags.id, flags.grace));
    return 0;
  }
  switch (made.error()) {
    case accounts::RotateError::no_such_key: return no_such_key(flags.id);
    case accounts::RotateError::of_environment:
      fmt::print(stderr, "sluice: key {} is that of the environment; change SLUICE_SERVICE_KEY and restart\n",
                 flags.id);
      return failed;
  }
  return failed;
}

std::string state_of(const accounts::ListedApiKey& key, Time now) {
  if (key.revoked_at) return "revoked " + format_time(*key.revoked_at);
  if (!key.expires_at) return "active";
  return (*key.expires_at > now ? "until " : "expired ") + format_time(*key.expires_at);
}

int list_keys(Office& office) {
  office.record("list-keys");
  for (const accounts::ListedApiKey& key : run_blocking(office.here, office.identity.keys().list())) {
    const std::string used = key.last_used_at ? "used " + format_time(*key.last_used_at) : "never used";
    fmt::print("{}  {:<7}  {}  {}  {}  {}\n", key.id.text(), accounts::name(key.role), format_time(key.created_at),
               state_of(key, office.clock.wall()), used, printable(key.name));
  }
  return 0;
}

int revoke_key(Office& office, const std::string& id) {
  const auto parsed = Id<accounts::CallerTag>::parse(id);
  if (parsed) office.record("revoke-key", id);
  if (!parsed || !run_blocking(office.here, office.identity.keys().revoke(*parsed))) {
    fmt::print(stderr, "sluice: there is no key {}; `sluice admin list-keys` shows them\n", id);
    return failed;
  }
  fmt::print("revoked; running servers refuse it within {}\n",
             format_duration(accounts::RememberedCallers::remember_for));
  return 0;
}

int show_audit(Office& office, int64_t limit) {
  office.record("audit");
  for (const accounts::RecordedAuditEntry& one : run_blocking(office.here, office.identity.audit().list(limit))) {
    const auto or_none = [](const std::string& text) { return text.empty() ? "-" : printable(text); };
    fmt::print("{}  {}  {}  {}  {}  {}\n", format_time(one.at), printable(one.entry.actor), one.entry.action,
               or_none(one.entry.target), or_none(one.entry.address), or_none(one.entry.request_id));
  }
  return 0;
}

struct AdminFlags {
  CommonFlags common;
  std::string email;
  KeyFlags key;
  int64_t limit = 50;
};

std::string check_duration(const std::string& text) {
  const auto duration = parse_duration(text);
  const bool usable = duration && *duration <= std::chrono::days(36'500);
  return usable ? "" : text + " is no duration; write 12h or 90d, at most 36500d";
}

std::string check_lifetime(const std::string& text) {
  return parse_duration(text) == Duration{0} ? "a key must work for some time" : check_duration(text);
}

std::string check_name(const std::string& text) {
  constexpr size_t longest_name = 200;
  const bool usable = !text.empty() && text.size() <= longest_name && printable(text) == text;
  return usable ? "" : fmt::format("it must have 1 to {} bytes, without control characters", longest_name);
}

CommandOption expires_option(AdminFlags& flags, const std::string& without) {
  return {.name = "--expires",
          .value = &flags.key.expires,
          .help = "How long it works, such as 90d; without it: " + without,
          .check = {.problem = check_lifetime}};
}

}  // namespace

Command admin_command() {
  const auto flags = std::make_shared<AdminFlags>();
  const auto command = [&](const char* name, const char* help, const char* example,
                           const std::function<int(Office&)>& work, std::vector<CommandOption> options = {}) {
    return Command{.name = name,
                   .help = help,
                   .footer = std::string("Example: ") + example,
                   .options = with_common(flags->common, std::move(options)),
                   .run = [flags, work] { return in_office(flags->common, work); }};
  };
  return {
      .name = "admin",
      .help = "Administrators, API keys and the audit log",
      .footer = "Example: sluice admin create-key --role SERVICE --name importer",
      .commands = {
          command("create", "Create an administrator; the password is read from standard input",
                  "sluice admin create --email kim@example.org < password.txt",
                  [flags](Office& office) { return create_administrator(office, flags->email); },
                  {{.name = "--email",
                    .value = &flags->email,
                    .help = "E-mail address of the administrator",
                    .required = true}}),
          command("create-key", "Create an API key for a program and print its secret",
                  "sluice admin create-key --role SERVICE --name importer --expires 90d",
                  [flags](Office& office) { return create_key(office, flags->key); },
                  {{.name = "--role",
                    .value = &flags->key.role,
                    .help = "USER, SERVICE or ADMIN",
                    .required = true,
                    .check = one_of({"USER", "SERVICE", "ADMIN"})},
                   {.name = "--name",
                    .value = &flags->key.name,
                    .help = "Name of the key, such as the program that uses it",
                    .required = true,
                    .check = {.problem = check_name}},
                   expires_option(*flags, "until it is revoked")}),
          command("rotate-key", "Replace an API key with a new one of the same name and role, and print its secret",
                  "sluice admin rotate-key 018f4e1c-6d2a-7c3e-9f10-0242ac120002 --grace 24h",
                  [flags](Office& office) { return rotate_key(office, flags->key); },
                  {{.name = "id", .value = &flags->key.id, .help = "The old key's id", .required = true},
                   {.name = "--grace",
                    .value = &flags->key.grace,
                    .help = "Time the old key continues to work",
                    .show_default = true,
                    .check = {.problem = check_duration}},
                   expires_option(*flags, "the lifetime of the old key")}),
          command("list-keys", "List API keys with their state, creation time and last use (to the minute)",
                  "sluice admin list-keys", list_keys),
          command("revoke-key", "Revoke an API key; it works up to 5 s longer in running servers",
                  "sluice admin revoke-key 018f4e1c-6d2a-7c3e-9f10-0242ac120002",
                  [flags](Office& office) { return revoke_key(office, flags->key.id); },
                  {{.name = "id", .value = &flags->key.id, .help = "The key's id", .required = true}}),
          command(
              "audit",
              "Show the actions of administrators, newest first: admin commands and requests that need the role ADMIN",
              "sluice admin audit --limit 100", [flags](Office& office) { return show_audit(office, flags->limit); },
              {{.name = "--limit",
                .value = &flags->limit,
                .help = "Number of entries",
                .show_default = true,
                .check = integer_in(1, 10'000)}})}};
}

}  // namespace sluice::server
