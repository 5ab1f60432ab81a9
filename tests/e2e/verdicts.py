# SPDX-License-Identifier: Apache-2.0
"""Verdicts of runs that are right.

A run that is long enough and has nothing slow is still doubted now and then: `slow` of 1 %, `drift` of 2 % and other reasons of less than 1 % of
all numbers (docs/theory.md), and several repeats where one of them is. A longer run is doubted as often, so a test that asks for `converged`
fails by chance, of ten repeats in one of three draws. How often right series are doubted is held by the calibration tests of the estimators.
"""
CHANCE = {"slow", "drift", "halves", "estimators", "discarded", "repeats", "foreign"}


def beyond_chance(verdict):
    """The reasons of a verdict, as in results.json, that are none of those: overlap, numbers of rows, what is missing."""
    return [reason for reason in verdict["reasons"] if reason["code"] not in CHANCE]
