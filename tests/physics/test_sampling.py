#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sampling.py says of numbers that are drawn as theory has them, and of others that are a little off."""
import contextlib
import io
import random
import unittest

import sampling


def says(hold, *args):
    """'ok' or 'FAIL' of each line."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        hold(*args)
    return [line.split()[0] for line in text.getvalue().splitlines()]


class Statistics(unittest.TestCase):
    def test_slope(self):
        draw = random.Random(1)
        values = [[100 + 3 * draw.gauss(mean, 1) for _ in range(4000)] for mean in (0, 2)]
        found, error = sampling.slope(values)
        self.assertLess(abs(found - 2 / 3), 3 * error)
        self.assertTrue(0.01 < error / (2 / 3) < 0.03, error)
        self.assertEqual([says(sampling.hold_slope, "", values, off * 2 / 3) for off in (1, 0.9, 1.1)], [["ok"], ["FAIL"], ["FAIL"]])

    def test_slope_of_correlated(self):
        # Each value 50 times: blocks know that there are fewer.
        draw = random.Random(2)
        values = [[x for _ in range(80) for x in [draw.gauss(mean, 1)] * 50] for mean in (0, 2)]
        found, error = sampling.slope(values)
        self.assertLess(abs(found - 2), 3 * error)
        self.assertGreater(error / 2, 0.06)

    def test_kinetic(self):
        draw = random.Random(3)
        freedom, temperature = sampling.FREEDOM, 300
        values = [draw.gammavariate(freedom / 2, sampling.R * temperature) for _ in range(4000)]
        self.assertEqual(says(sampling.hold_kinetic, values, temperature, freedom), ["ok", "ok"])
        self.assertEqual(says(sampling.hold_kinetic, values, 1.005 * temperature, freedom)[0], "FAIL")
        narrow = [300 * sampling.R * freedom / 2 + 0.7 * (x - 300 * sampling.R * freedom / 2) for x in values]
        self.assertEqual(says(sampling.hold_kinetic, narrow, temperature, freedom), ["ok", "FAIL"])

    def test_density(self):
        draw = random.Random(4)
        volume = sampling.WATERS * sampling.GRAM / 0.602214076 / sampling.DENSITY
        for off, said in ((1, "ok"), (0.99, "FAIL")):
            self.assertEqual(says(sampling.hold_density, [off * volume * draw.gauss(1, 0.013) for _ in range(40000)]), [said])


if __name__ == "__main__":
    unittest.main()
