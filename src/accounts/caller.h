// Who calls.
//
// Routes never look at tokens: they ask the Callers port who is calling and decide by role. API keys answer today;
// account tokens join as another implementation without touching a route.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "runtime/task.h"

namespace sluice::accounts {

// Each role may do what the ones before it may.
enum class Role { user, service, admin };
std::string_view name(Role role);  // "USER", "SERVICE", "ADMIN"
std::optional<Role> parse_role(std::string_view text);

struct CallerTag;
struct Caller {
  Id<CallerTag> id;
  Role role = Role::user;
  std::string name;

  bool may_act_as(Role needed) const { return role >= needed; }
};

class Callers {
 public:
  virtual ~Callers() = default;

  // Whom the token of an `Authorization: Bearer` header belongs to; nothing where it is unknown, revoked or malformed.
  // Safe to call from any thread. Throws EngineUnavailable where it cannot be known: never open.
  virtual Task<std::optional<Caller>> identify(std::string token) = 0;
};

}  // namespace sluice::accounts
