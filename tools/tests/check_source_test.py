import unittest

from planted import ROOT, PlantedTest

import check_source


class CheckSource(PlantedTest):
    def wrong(self, name, text):
        self.plant(name, text)
        return check_source.check(self.root)

    def test_this_repository_is_in_order(self):
        self.assertEqual(check_source.check(ROOT), [])

    def test_the_real_clock_is_named_only_where_it_is_injected(self):
        code = "auto now = std::chrono::system_clock::now();\n"
        self.assertEqual(self.wrong("src/server/main.cpp", code), [])
        self.assertEqual(len(self.wrong("src/accounts/keys.cpp", code)), 1)

    def test_nobody_sleeps(self):
        self.assertEqual(len(self.wrong("tests/contract/x.cpp", "std::this_thread::sleep_for(1s);\n")), 1)

    def test_no_loop_is_without_an_owner(self):
        self.assertEqual(len(self.wrong("src/http/server.cpp", "co_spawn(io, f(), asio::detached);\n")), 1)

    def test_comments_and_strings_may_say_what_they_like(self):
        self.assertEqual(self.wrong("src/http/a.h", '// never detached\nauto s = "detached";\n'), [])

    def test_a_reason_excuses_a_line(self):
        self.assertEqual(self.wrong("src/http/a.h", "usleep(1);  // allowed: a kernel bug\n"), [])

    def test_paths_of_one_machine_are_found_in_any_file(self):
        self.assertEqual(len(self.wrong("deploy/unit", "ExecStart=/home/me/sluice\n")), 1)

    def test_package_registries_are_found_in_any_file(self):
        self.assertEqual(len(self.wrong("web/package-lock.json", '  "resolved": "https://registry.example/x"\n')), 1)


if __name__ == "__main__":
    unittest.main()
