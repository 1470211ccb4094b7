#include <iostream>

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "accounts/remembered_callers.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/commands.h"
#include "server/engines.h"
#include "server/identity.h"
#include "server/system_random.h"

namespace sluice::server {
namespace {

// What every admin command works with. It may run beside the server that owns the data folder.
struct Office {
  explicit Office(const Settings& settings)
      : engines(settings, {Service::accounts}, clock, Engines::Access::beside_owner),
        identity(settings, engines.of(Service::accounts), clock, secrets) {}

  asio::io_context here;
  SystemClock clock;
  SystemRandom secrets;
  Engines engines;
  Identity identity;
};

// Runs `work` with an office; turns what cannot be done into a sentence and an exit code.
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

// A line from the terminal without showing it, or from whatever is piped in.
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
  const auto created = run_blocking(office.here, office.identity.create_administrator(email, read_password()));
  if (!created) {
    fmt::print(stderr, "sluice: {}\n", accounts::explain(created.error()));
    return failed;
  }
  fmt::print("{}\n", created->text());
  return 0;
}

int create_key(Office& office, const std::string& name, const std::string& role) {
  const auto made = run_blocking(office.here, office.identity.keys().create(name, *accounts::parse_role(role)));
  // The secret alone on standard output, so that scripts can take it.
  fmt::print(stderr, "key {} for {} ({}); it is shown only once:\n", made.id.text(), name, role);
  fmt::print("{}\n", made.secret);
  return 0;
}

int list_keys(Office& office) {
  for (const accounts::ListedApiKey& key : run_blocking(office.here, office.identity.keys().list())) {
    fmt::print("{}  {:<7}  {}  {}  {}\n", key.id.text(), accounts::name(key.role), format_time(key.created_at),
               key.revoked_at ? "revoked " + format_time(*key.revoked_at) : "active", key.name);
  }
  return 0;
}

int revoke_key(Office& office, const std::string& id) {
  const auto parsed = Id<accounts::CallerTag>::parse(id);
  if (!parsed || !run_blocking(office.here, office.identity.keys().revoke(*parsed))) {
    fmt::print(stderr, "sluice: there is no key {}; `sluice admin list-keys` shows them\n", id);
    return failed;
  }
  fmt::print("revoked; running servers refuse it within {}\n",
             format_duration(accounts::RememberedCallers::remember_for));
  return 0;
}

struct AdminFlags {
  CommonFlags common;
  std::string email;
  std::string name;
  std::string role;
  std::string id;
};

}  // namespace

void add_admin(CLI::App& program, Chosen& chosen) {
  const auto flags = std::make_shared<AdminFlags>();
  CLI::App* const command = program.add_subcommand("admin", "Administrators and API keys");
  command->require_subcommand(1);
  command->footer("Example: sluice admin create-key --role SERVICE --name importer");
  const auto add = [&](const char* name, const char* about, const char* example,
                       const std::function<int(Office&)>& work) {
    CLI::App* const one = command->add_subcommand(name, about);
    add_common_flags(*one, flags->common);
    one->footer(std::string("Example: ") + example);
    one->callback([flags, work, &chosen] { chosen = [flags, work] { return in_office(flags->common, work); }; });
    return one;
  };
  add("create", "Make an administrator; the password is read from standard input",
      "sluice admin create --email kim@example.org < password.txt",
      [flags](Office& office) { return create_administrator(office, flags->email); })
      ->add_option("--email", flags->email, "Their e-mail address")
      ->required();
  CLI::App* const key = add("create-key", "Make an API key for a machine and print its secret",
                            "sluice admin create-key --role SERVICE --name importer",
                            [flags](Office& office) { return create_key(office, flags->name, flags->role); });
  key->add_option("--role", flags->role, "USER, SERVICE or ADMIN")
      ->required()
      ->check(CLI::IsMember({"USER", "SERVICE", "ADMIN"}));
  key->add_option("--name", flags->name, "What it is for")->required();
  add("list-keys", "List API keys", "sluice admin list-keys", list_keys);
  add("revoke-key", "Revoke an API key; it works up to 5 s longer in running servers",
      "sluice admin revoke-key 018f4e1c-6d2a-7c3e-9f10-0242ac120002",
      [flags](Office& office) { return revoke_key(office, flags->id); })
      ->add_option("id", flags->id, "The key's id")
      ->required();
}

}  // namespace sluice::server
