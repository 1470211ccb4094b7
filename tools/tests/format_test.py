import subprocess
import unittest

from planted import PlantedTest


class Format(PlantedTest):
    def good(self, text: str) -> bool:
        file = self.plant("src/base/planted.cpp", text)
        check = ["clang-format-19", "--dry-run", "-Werror", str(file)]
        return subprocess.run(check, capture_output=True).returncode == 0

    def test_an_unformatted_file_is_found(self):
        self.assertTrue(self.good("int seats(int row);\n"))
        self.assertFalse(self.good("int  seats( int row );\n"))


if __name__ == "__main__":
    unittest.main()
