// What SQLite's result codes mean to us.
#pragma once

#include <string>
#include <string_view>

namespace sluice::sqlite {

// Throws what `code` (an extended result code) stands for: ConstraintViolation, StatementError or EngineUnavailable.
// `message` is SQLite's, `doing` the statement or step that failed.
[[noreturn]] void throw_error(int code, std::string_view message, std::string_view doing);

}  // namespace sluice::sqlite
