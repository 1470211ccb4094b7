// `sluice-lab load`: puts a known load on a server and tells honestly how it took it.
#pragma once

namespace CLI {
class App;
}

namespace sluice::lab {

// Adds the command; running it sets `exit_code`: 0, 1 where too much failed, 2 where it was asked wrongly.
void add_load_command(CLI::App& app, int& exit_code);

}  // namespace sluice::lab
