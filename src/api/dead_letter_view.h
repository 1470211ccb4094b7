// Dead letters as administrators see them.
#pragma once

#include <vector>

#include "base/json.h"
#include "messaging/dead_letters.h"

namespace sluice::messaging {

void describe(json::Object<DeadLetter>& object);  // without the headers and payload of its original
void describe(json::Object<LetterPage>& object);
void describe(json::Object<LetterProgress>& object);

}  // namespace sluice::messaging

namespace sluice::api {

// TOPIC:PARTITION:OFFSET
extern const json::TextForm letter_id_form;

struct LetterGroups {
  std::vector<messaging::LetterGroup> groups;

  static void describe(json::Object<LetterGroups>& object);
};

struct LetterWithOriginal : messaging::DeadLetter {
  bool is_json = false;  // its original's payload

  static LetterWithOriginal of(messaging::DeadLetter letter);
  static void describe(json::Object<LetterWithOriginal>& object);
};

}  // namespace sluice::api
