#include "coordination/turns.h"

#include "runtime/errors.h"

namespace sluice::coordination {

std::unique_ptr<Turns::Place> Turns::join(std::string key) {
  const auto line = lines_.find(key);
  if (line != lines_.end() && line->second.size() >= most_) throw Overloaded("waiting for " + key);
  return std::unique_ptr<Place>(new Place(*this, std::move(key)));
}

void Turns::nudge(const std::string& key) {
  const auto line = lines_.find(key);
  if (line != lines_.end()) line->second.front()->woken_.notify_all();
}

Turns::Place::Place(Turns& turns, std::string key) : turns_(turns), key_(std::move(key)), woken_(turns.executor_) {
  turns_.lines_[key_].push_back(this);
}

Turns::Place::~Place() {
  const auto line = turns_.lines_.find(key_);
  line->second.remove(this);
  if (line->second.empty()) {
    turns_.lines_.erase(line);
  } else {
    line->second.front()->woken_.notify_all();
  }
}

bool Turns::Place::first() const {
  return turns_.lines_.at(key_).front() == this;
}

}  // namespace sluice::coordination
