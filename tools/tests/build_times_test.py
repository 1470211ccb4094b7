import json
import subprocess
import unittest

from planted import ROOT, PlantedTest


class BuildTimes(PlantedTest):
    """A build of two files and a program, of which the log tells."""

    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        self.plant("src/slow.cpp", "#include <vector>\nstd::vector<int> made(5);\n")
        self.plant("src/quick.cpp", "int x;\n")
        for output in ("slow.o", "quick.o", "bin/program"):
            self.plant(f"build/{output}", "")
        self.plant("build/.ninja_log", "# ninja log v5\n0\t9000\t0\tslow.o\ta\n0\t4000\t0\tslow.o\ta\n"
                   "5\t1005\t0\tquick.o\tb\n1005\t3005\t0\tbin/program\tc\n0\t70000\t0\tgone.o\td\n")
        commands = [{"directory": str(self.build), "file": str(self.root / "src" / name) + ".cpp",
                     "command": f"ccache clang++-19 -o {name}.o -c ../src/{name}.cpp"} for name in ("slow", "quick")]
        self.plant("build/compile_commands.json", json.dumps(commands))

    def printed(self, *arguments):
        script = ROOT / "tools/build_times.py"
        return subprocess.run(["python3", script, self.build, *arguments], check=True, capture_output=True, text=True).stdout

    def test_the_steps_of_the_last_build_are_listed_the_slowest_first(self):
        lines = self.printed("--trace", "0").splitlines()
        self.assertEqual(lines[0], "3 steps, 7 s in all. The slowest:")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["4.0", "2.0", "1.0"])
        self.assertIn("bin/program", lines[2])

    def test_the_slowest_file_is_looked_into(self):
        text = self.printed("--trace", "1")
        self.assertRegex(text, r"src/slow\.cpp: \d+\.\d CPU s; front end \d+\.\d, headers \d+\.\d, back end \d+\.\d")
        self.assertRegex(text, r"s  header .*/vector\b")
        self.assertNotIn("quick.cpp:", text)


if __name__ == "__main__":
    unittest.main()
