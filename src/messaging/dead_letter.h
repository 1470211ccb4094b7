// A message that could not be handled, put aside in a separate topic.
//
// Letters are messages themselves, so they exist on every engine, survive what the log survives and stay for their
// topic's retention. A letter has the key of the message it is about, so that letters of a key keep its order, and
//
//   payload   {originalEvent, failureReason, errorMessage, retryCount, failedAt, workerId}; where the original is not
//             JSON, originalBytes (base64url) stands for originalEvent, and neither where both together were too large
//   headers   where the original stood and which group failed on it (below), and each of its own headers with
//             "original." before its name; not those, and not all of its key, where that was too large still
//
// A letter is settled by a *mark* behind it, a message with the same key: the log is never changed. One original may
// have several letters, since a consumer that crashes may write its letter again; they are one until they are settled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messaging/message.h"

namespace sluice::messaging {

// Why a message was given up, and by which worker.
struct Failure {
  std::string reason;  // one word that letters are grouped by: "API_5XX"
  std::string error;   // for people
  int64_t tries = 0;
  Time at{};
  std::string worker{};
};

struct DeadLetter {
  Position position;  // of the letter
  std::string group;
  Position origin;  // where the original stood
  Failure failure{};
  // Its payload and headers are missing, and its key is cut, where they did not fit; it may still be in the log, at
  // `origin`.
  Message original{};
  bool complete = false;
  std::string letter_key{};  // its mark has it, too: so it stands in the same partition

  std::string id() const;  // "TOPIC:PARTITION:OFFSET"
  // Whether the original ever stood in the log, at `origin`; a row of an outbox did not.
  bool was_in_log() const { return origin.topic == original.topic; }
};

std::string letter_id(const Position& letter);
// Nothing where it is no id of a letter.
std::optional<Position> parse_letter_id(std::string_view id);

enum class Settled { replayed, purged };

// An entry of a dead-letter topic. Entries with the same `subject` belong to one letter.
struct LetterEntry {
  std::string subject;
  // A mark settles its subject's letters up to this offset; one that was written meanwhile stays.
  std::optional<int64_t> settles_to;
};

// How much of the original a letter keeps, where the log refuses more for its size. The least fits any log.
enum class LetterForm { whole, without_payload, least };
inline constexpr size_t max_error_bytes = 4096;
inline constexpr size_t max_reason_bytes = 128;
inline constexpr size_t max_least_key_bytes = 1024;

// A letter about `delivery`, for `topic`. Long errors are cut.
Message write_letter(const std::string& topic, const std::string& group, const Delivery& delivery,
                     const Failure& failure, LetterForm form = LetterForm::whole);
// Settles the letter, and others of its subject up to `settles_to`.
Message write_mark(const DeadLetter& letter, int64_t settles_to, Settled how, Time now);

LetterEntry read_entry(const Delivery& delivery);
// Reads anything that is not a mark; an entry that is not a letter either (another program wrote into the topic) gets
// the reason UNREADABLE and is its own, incomplete original.
DeadLetter read_letter(const Delivery& delivery);

}  // namespace sluice::messaging
