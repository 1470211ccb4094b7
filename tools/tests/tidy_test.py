import json
import unittest

from planted import PlantedTest

import tidy

COROUTINE = """
#include <coroutine>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

int main() {
  int seats = 3;
  const auto task = [CAPTURE]() -> Task { co_return; };
  task();
  return seats;
}
"""


class Tidy(PlantedTest):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build"

    def bad(self, text: str) -> int:
        file = self.plant("src/base/planted.cpp", text)
        command = f"clang++-19 -std=c++23 -I{self.root}/src -c {file}"
        self.plant("build/compile_commands.json",
                   json.dumps([{"directory": str(self.root), "command": command, "file": str(file)}]))
        return tidy.Tidy(self.root, self.build).run([], 1)

    def test_a_coroutine_lambda_that_captures_is_found(self):
        self.assertEqual(self.bad(COROUTINE.replace("CAPTURE", "")), 0)
        self.assertEqual(self.bad(COROUTINE.replace("CAPTURE", "&seats")), 1)

    def test_only_what_changed_is_looked_at_again(self):
        looked_at = []

        class Counting(tidy.Tidy):
            def look_at(self, file):
                looked_at.append(file.name)
                return ""

        header = self.plant("src/base/planted.h", "")
        self.bad('#include "base/planted.h"\n')
        Counting(self.root, self.build).run([], 1)
        self.assertEqual(looked_at, [])
        header.write_text("int seats();\n")
        Counting(self.root, self.build).run([], 1)
        self.assertEqual(looked_at, ["planted.cpp"])

    def test_what_was_bad_is_looked_at_again(self):
        self.assertEqual([self.bad(COROUTINE.replace("CAPTURE", "&seats")) for _ in range(2)], [1, 1])


if __name__ == "__main__":
    unittest.main()
