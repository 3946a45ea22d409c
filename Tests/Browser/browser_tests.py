"""Tests of `archiver browse` in a browser.

usage: browser_tests.py ARCHIVER [--axe PATH/axe.min.js] [--pictures DIR] [--firefox GECKODRIVER] [--only WORDS]

They need chromium and chromedriver, or Firefox and geckodriver. As with the other tests, up to three that fail are run once
more at the end; those that pass then are named as unsteady. The exit status is 1 if a test fails twice.
"""

import argparse
import signal
import sys
import unittest

import access_tests
import appearance_tests
import page_tests
import restore_tests
import task_tests
import text_tests
from archive_scene import Scene
from page_case import Settings


MOST_REPEATED = 3


def repeated(result):
    """The tests that failed; None if there are too many of them, or something else than a test failed."""
    failed = {getattr(test, "test_case", test) for test, _ in [*result.failures, *result.errors]}
    if len(failed) > MOST_REPEATED or not all(isinstance(test, unittest.TestCase) for test in failed):
        return None
    return unittest.TestSuite(failed)


def passes(suite):
    runner = unittest.TextTestRunner(verbosity=2)
    result = runner.run(suite)
    if result.wasSuccessful():
        return True
    again = repeated(result)
    if not again:
        return False
    names = [test.id() for test in again]
    if not runner.run(again).wasSuccessful():
        return False
    print("Unsteady: failed, and passed when run once more:", *names, sep="\n  ")
    return True


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("archiver")
    parser.add_argument("--axe")
    parser.add_argument("--pictures")
    parser.add_argument("--firefox")
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    Settings.binary, Settings.axe, Settings.pictures = options.archiver, options.axe, options.pictures
    Settings.geckodriver = options.firefox
    # However the run ends, its processes must end, too. unittest treats other exceptions as a failed test.
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, interrupt)
    loader = unittest.TestLoader()
    if options.only:
        loader.testNamePatterns = [f"*{words}*" for words in options.only]
    past = page_tests.LongPastTests.long_past = page_tests.LongPast()
    try:
        past.start()
        modules = (access_tests, restore_tests, task_tests, text_tests, page_tests, appearance_tests)
        suite = unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules)
        is_passed = passes(suite)
    finally:
        past.is_ended = True
        past.join(30)
        Scene.close_all()
    return 0 if is_passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
