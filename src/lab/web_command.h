// `sluice-lab web`: simulated web sites to enrich links from.
#pragma once

namespace CLI {
class App;
}

namespace sluice::lab {

// Adds the command; running it sets `exit_code`: 0 after SIGTERM or SIGINT, 1 where it can't listen, 2 where it was
// asked wrongly.
void add_web_command(CLI::App& app, int& exit_code);

}  // namespace sluice::lab
