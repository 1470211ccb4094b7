import shutil
import subprocess
import unittest

from planted import ROOT, PlantedTest

LISTED = """
add_test(one_test "{bin}/one_test")
set_tests_properties(one_test PROPERTIES LABELS "unit")
add_test(whole_scenario "{bin}/whole_scenario")
set_tests_properties(whole_scenario PROPERTIES LABELS "scenario")
add_test(fuzz_parser "{bin}/run_fuzz" "parser")
set_tests_properties(fuzz_parser PROPERTIES LABELS "fuzz")
"""


class UnchangedTests(PlantedTest):
    """A build with two tests, a fuzz test that a script runs, and a program that is none."""

    def setUp(self):
        super().setUp()
        self.plant("tools/unchanged_tests.py", "")
        shutil.copy(ROOT / "tools/unchanged_tests.py", self.root / "tools")
        self.plant("deploy/demo.toml", "")
        self.build = self.root / "build"
        for name in ("one_test", "whole_scenario", "fuzz_parser", "run_fuzz", "sluice"):
            self.program(name, "exit 0")
        self.plant("build/CTestTestfile.cmake", LISTED.format(bin=self.build / "bin"))

    def program(self, name, script):
        path = self.plant(f"build/bin/{name}", f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def tool(self, command):
        script = [self.root / "tools/unchanged_tests.py", command, self.build]
        return subprocess.run(["python3", *script], check=True, capture_output=True, text=True).stdout.strip()

    def run_tests(self, *arguments, then="keep"):
        self.tool("look")
        subprocess.run(["ctest", "--test-dir", self.build, *arguments], capture_output=True, check=False)
        self.tool(then)

    def unchanged(self):
        self.tool("look")
        return self.tool("skip")

    def test_what_has_not_changed_since_it_passed_is_left_out(self):
        self.assertEqual(self.unchanged(), "")
        self.run_tests()
        self.assertEqual(self.unchanged(), "^(one_test|whole_scenario)$")

    def test_a_script_is_not_known_by_the_program_that_bears_its_name(self):
        self.run_tests()
        self.assertNotIn("fuzz_parser", self.unchanged())

    def test_what_failed_runs_again(self):
        self.program("one_test", "exit 1")
        self.run_tests()
        self.assertEqual(self.unchanged(), "^(whole_scenario)$")

    def test_a_program_that_was_built_anew_is_tested_again_with_what_runs_it(self):
        self.run_tests()
        self.program("sluice", "echo new")
        self.assertEqual(self.unchanged(), "^(one_test)$")
        self.program("one_test", "echo new")
        self.assertEqual(self.unchanged(), "")

    def test_what_is_deployed_belongs_to_what_runs_it(self):
        self.run_tests()
        self.plant("deploy/demo.toml", "changed = true")
        self.assertEqual(self.unchanged(), "^(one_test)$")

    def test_a_program_that_was_built_while_the_tests_ran_has_not_been_tested(self):
        self.program("one_test", f"echo changed >>{self.build}/bin/one_test")
        self.run_tests()
        self.assertEqual(self.unchanged(), "^(whole_scenario)$")

    def test_what_failed_in_another_form_is_no_longer_taken_for_passed(self):
        self.program("one_test", f"test ! -e {self.build}/long")
        self.run_tests()
        self.assertIn("one_test", self.unchanged())
        self.plant("build/long", "")
        self.run_tests("-R", "one_test", then="forget")
        self.assertEqual(self.unchanged(), "^(whole_scenario)$")

    def test_what_passed_in_another_form_is_not_remembered(self):
        self.run_tests(then="forget")
        self.assertEqual(self.unchanged(), "")

    def test_what_lacked_an_engine_runs_again(self):
        self.program("whole_scenario", "echo '*** NOT TESTED ***'")
        self.run_tests()
        self.assertEqual(self.unchanged(), "^(one_test)$")

    def test_a_run_of_nothing_teaches_nothing(self):
        self.run_tests()
        self.program("one_test", "echo new")
        self.run_tests("-E", ".")
        self.assertEqual(self.unchanged(), "^(whole_scenario)$")


if __name__ == "__main__":
    unittest.main()
