// The meaning of SQLite's result codes.
#pragma once

#include <string>
#include <string_view>

namespace sluice::sqlite {

// Throws the exception for `code` (an extended result code): ConstraintViolation, StatementError or EngineUnavailable.
// `message` is SQLite's, `doing` the statement or step that failed.
[[noreturn]] void throw_error(int code, std::string_view message, std::string_view doing);

}  // namespace sluice::sqlite
