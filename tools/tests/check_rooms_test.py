import unittest

from planted import ROOT, PlantedTest

import check_rooms


class CheckRooms(PlantedTest):
    def wrong(self):
        return check_rooms.check(self.root)

    def test_this_repository_is_in_order(self):
        self.assertEqual(check_rooms.check(ROOT), [])

    def test_a_room_may_include_what_is_below(self):
        self.plant("src/base/time.h", "")
        self.plant("src/runtime/clock.h", '#include "base/time.h"\n')
        self.plant("src/adapters/sql/database.h", '#include "runtime/clock.h"\n')
        self.plant("src/adapters/sqlite/sqlite.cpp", '#include "adapters/sql/database.h"\n')
        self.assertEqual(self.wrong(), [])

    def test_the_ground_may_not_include_what_stands_on_it(self):
        self.plant("src/runtime/clock.h", "")
        self.plant("src/base/time.h", '\n#include "runtime/clock.h"\n')
        self.assertEqual(self.wrong(), ["src/base/time.h:2: base may not include runtime/clock.h"])

    def test_a_feature_may_not_include_another(self):
        self.plant("src/payments/ledger.h", "")
        self.plant("src/reservations/reserve.cpp", '#include "payments/ledger.h"\n')
        self.assertEqual(len(self.wrong()), 1)

    def test_an_adapter_may_not_include_another(self):
        self.plant("src/adapters/sql/database.h", "")
        self.plant("src/adapters/redis/holds.cpp", '#include "adapters/sql/database.h"\n')
        self.assertEqual(len(self.wrong()), 1)

    def test_an_unknown_room_is_named(self):
        self.plant("src/utils/misc.h", "")
        self.assertIn("'utils' is not a room", self.wrong()[0])

    def test_angle_brackets_hide_nothing(self):
        self.plant("src/runtime/clock.h", "")
        self.plant("src/base/time.h", "#include <runtime/clock.h>\n")
        self.assertEqual(len(self.wrong()), 1)

    def test_beast_is_counted_through_our_headers(self):
        self.plant("src/http/parser.h", "#include <boost/beast/http/parser.hpp>\n")
        for name in "abc":
            self.plant(f"src/http/{name}.cpp", '#include "http/parser.h"\n')
        self.assertEqual(self.wrong(), [])
        self.plant("src/http/d.h", '#include "http/parser.h"\n')
        self.plant("src/http/d.cpp", '#include "http/d.h"\n')
        self.assertIn("Beast reaches 4 translation units", self.wrong()[0])

    def test_the_table_in_the_document_is_the_same(self):
        document = self.root / "ARCHITECTURE.md"
        text = document.read_text()
        document.write_text(text.replace("| flows | features and below |", "| flows | all |"))
        self.assertEqual(len(self.wrong()), 2)  # one row too many, one missing
        document.write_text(text.replace("<!-- rooms -->", ""))
        self.assertEqual(len(self.wrong()), 1)


if __name__ == "__main__":
    unittest.main()
