// The caller of a request.
//
// Routes never see tokens: they ask the Callers port for the caller and decide by role. API keys are the only
// implementation today; account tokens can be added as another without changing a route.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "runtime/task.h"

namespace sluice::accounts {

// Each role includes the rights of those before it.
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

  // The owner of the token of an `Authorization: Bearer` header; nothing if the token is unknown, revoked or malformed.
  // Thread-safe. Throws EngineUnavailable if the owner cannot be determined; access is never granted then.
  virtual Task<std::optional<Caller>> identify(std::string token) = 0;
};

}  // namespace sluice::accounts
