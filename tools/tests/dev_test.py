import subprocess
import unittest

from planted import ROOT


def dev(*arguments):
    return subprocess.run([ROOT / "dev", *arguments], capture_output=True, text=True, timeout=60)


class Dev(unittest.TestCase):
    def test_help_lists_every_command(self):
        done = dev("help")
        self.assertEqual(done.returncode, 0)
        script = (ROOT / "dev").read_text(encoding="utf-8")
        commands = [line.split(")")[0].strip() for line in script.split("case $command in")[1].splitlines() if ") " in line]
        self.assertIn("doctor", commands)
        for command in commands:
            if command.isalnum():
                self.assertIn(f"\n  {command} ", done.stdout)

    def test_who_asks_wrongly_is_told_how_to_ask(self):
        for arguments, answer in {
            ("bogus",): "Unknown command 'bogus'.",
            ("bench", "bogus"): "Unknown benchmark 'bogus'. Available: attacks coordination documents http",
            ("k6", "bogus"): "Unknown k6 scenario 'bogus'. Available: documents",
            ("build", "bogus"): "Unknown preset 'bogus'. Available: debug release",
            ("build", "--bogus"): "Unknown option '--bogus' of build; use --times.",
            ("test", "--bogus"): "Unknown option '--bogus' of test; use --long or --all.",
            ("services",): "Name a service to start, such as ./dev services up pg.",
        }.items():
            with self.subTest(arguments):
                done = dev(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(answer, done.stderr)


if __name__ == "__main__":
    unittest.main()
