#include "tests/contract/postgres_plans.h"

#include <regex>

#include "adapters/postgres/migrations.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

// The size of these tables is bounded under any load.
const std::map<std::string, std::string> small_tables{
    {"finished_counts", "added up each minute"},
    {"outbox_buckets", "64 rows"},
    {"outbox_relays", "a row for each relay process"},
    {"outbox_topics", "a row for each topic"},
    {"schema_migrations", "a row for each migration"},
    {"version_floors", "a row for each start of Redis, read once for each"},
};

// With single spaces.
std::string one_line(const std::string& text) {
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) line += line.empty() ? word : " " + word;
  return line;
}

std::vector<LoggedPlan> plans_in(const std::string& log) {
  static const std::string query = "\tQuery Text: ";
  std::vector<LoggedPlan> plans;
  bool inside = false;
  bool in_statement = false;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (!inside || !line.starts_with('\t')) {
      inside = line.ends_with(" plan:");
      if (inside) plans.emplace_back();
      continue;
    }
    LoggedPlan& plan = plans.back();
    plan.text += line.substr(0, 200) + "\n";
    if (line.starts_with(query)) in_statement = true;
    if (line.contains("(cost=")) in_statement = false;
    if (in_statement) plan.statement += line.substr(line.starts_with(query) ? query.size() : 1);
    if (line.contains("unnest(") || line.contains("= ANY ($")) plan.of_many_rows = true;
  }
  std::erase_if(plans, [](const LoggedPlan& plan) { return plan.text.contains("SELECT 'mark-"); });
  for (LoggedPlan& plan : plans) plan.statement = one_line(plan.statement).substr(0, 100);
  return plans;
}

// The number behind `name`, 0 where that is not in the line.
double number_behind(std::string_view name, const std::string& line) {
  const size_t at = line.find(name);
  return at == std::string::npos ? 0 : std::strtod(line.c_str() + at + name.size(), nullptr);
}

// Reading a whole table through its index, or repeatedly under a filter, is no better than a scan.
std::string long_walk_of(const LoggedPlan& plan) {
  constexpr double most = 15'000;
  double loops = 1;
  std::istringstream lines(plan.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.contains(" loops=")) loops = number_behind(" loops=", line);
    const double rows = number_behind("actual rows=", line) + number_behind("Rows Removed by Filter: ", line) +
                        number_behind("Rows Removed by Join Filter: ", line);
    const bool walks = line.contains("Scan ") || line.contains("Rows Removed");
    if (walks && rows * loops > most) return "walks over many rows";
  }
  return "";
}

// What is wrong with a plan; empty where nothing is. Rows that were found and locked are then named by their place
// (ctid); a table of fewer pages than PostgreSQL expects of these is read instead, which needs no statistics to be
// right. So is an empty one by a statement that looks for few rows: it is planned anew each time.
std::string fault_of(const LoggedPlan& plan, bool empty_tables) {
  static const std::string nothing;
  static const std::regex whole_table(R"(Seq Scan on (?:\w+\.)?(\w+)[^\n]*\n(?!\s*Filter: \(ctid = ANY))");
  const bool may_be_read = !plan.text.contains("Seq Scan") || (empty_tables && !plan.of_many_rows);
  const std::string& text = may_be_read ? nothing : plan.text;
  for (std::sregex_iterator found(text.begin(), text.end(), whole_table), end; found != end; ++found) {
    if (!small_tables.contains((*found)[1])) return "reads all of " + (*found)[1].str();
  }
  if (plan.of_many_rows && (plan.text.contains("Hash Join") || plan.text.contains("Merge Join"))) {
    return "joins whole tables";
  }
  // A row that is found by its place and has changed meanwhile is not looked at again by every release of PostgreSQL.
  if (plan.text.contains("Delete on jobs") && plan.text.contains("Tid Scan")) return "deletes by place";
  // A few for each row that a statement is given or walks over.
  if (pages_of(plan) > 100'000) return "reads many pages";
  return long_walk_of(plan);
}

}  // namespace

size_t pages_of(const LoggedPlan& plan) {
  static const std::regex buffers(R"(Buffers: shared hit=(\d+))");
  std::smatch found;
  return std::regex_search(plan.text, found, buffers) ? std::stoul(found[1]) : 0;
}

void PostgresPlans::SetUp() {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  server_.emplace(PostgresOptions{
      .settings = {"autovacuum=off", "session_preload_libraries=auto_explain", "auto_explain.log_min_duration=0",
                   "auto_explain.log_analyze=on", "auto_explain.log_buffers=on", "auto_explain.log_timing=off",
                   "auto_explain.log_nested_statements=on"},
      .log_lines = 1'000'000});
  postgres::PostgresSetup setup(service_setup(*server_), thread_, clock_);
  run(setup.create_services());
  run(setup.migrate(postgres::migrations()));
  admin_.emplace(postgres_config(*server_), thread_, clock_);
}

std::unique_ptr<postgres::PostgresDatabase> PostgresPlans::login(std::string_view service) {
  return std::make_unique<postgres::PostgresDatabase>(
      postgres::PostgresConfig{
          .url = server_->url(), .user = std::string(service), .password = service_password(service)},
      thread_, clock_);
}

void PostgresPlans::expect_only_lookups(size_t least_statements) {
  use_and_look("empty");
  fill_tables();
  use_and_look("filled and never analyzed");
  execute("ANALYZE");
  use_and_look("analyzed");
  EXPECT_GE(statements_.size(), least_statements);
}

void PostgresPlans::use_and_look(const std::string& tables) {
  SCOPED_TRACE(tables);
  take_plans();
  use_stores(5);
  use_stores(1'000);
  const std::set<std::string> exempt = exempt_statements();
  std::set<std::string> told;
  for (const LoggedPlan& plan : take_plans()) {
    statements_.insert(plan.statement);
    const bool is_exempt =
        std::ranges::any_of(exempt, [&](const std::string& one) { return plan.statement.starts_with(one); });
    if (is_exempt) continue;
    const std::string fault = fault_of(plan, tables == "empty");
    if (!fault.empty() && told.insert(plan.statement).second) ADD_FAILURE() << fault << "\n" << plan.text;
  }
}

std::vector<LoggedPlan> PostgresPlans::take_plans() {
  const std::string mark = unique("mark") + ".";
  execute("SELECT '" + mark + "'");
  return plans_in(server_->log_until(mark));
}

}  // namespace sluice::test
