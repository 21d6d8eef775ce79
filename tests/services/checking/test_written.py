"""The result of a check as JUnit XML and as Markdown, whatever the texts hold."""

import xml.etree.ElementTree as ET

from app.services.checking.junit import junit_xml
from app.services.checking.summary import summary_markdown
from app.services.checking.views import CheckReport, CheckResult, DecidingExample

HOSTILE = "a]]><b> \"quoted\" & 'so' | x \x00\x0b \u202e `code` [link](u)\nnext"
EXAMPLE = DecidingExample("e1", HOSTILE, "parcel", 0.25, "anna", "import rows.csv")
BROKEN = CheckResult(
    "pin", f"“{HOSTILE}” must get refund", "failed", "gets parcel", "So it is.", examples=(EXAMPLE,)
)
KEPT = CheckResult("pin", "“hi” must get greeting", "passed", "gets greeting")
FLOOR = CheckResult("floor", "accuracy at least 90.0 %", "passed", "95.0 %", "", 0.95, 0.9)
UNJUDGED = CheckResult("champion", "not worse than p@1", "skipped", "not judged")


def report(*checks: CheckResult) -> CheckReport:
    return CheckReport("p@2", "p@1", "20 test texts of p", checks, ("A note.",), 1.5)


def test_junit_has_a_case_for_each_check_and_holds_any_text() -> None:
    root = ET.fromstring(junit_xml(report(BROKEN, KEPT, FLOOR, UNJUDGED)))
    [suite] = root
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "p@2")
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "4", "failures": "1", "errors": "0", "skipped": "1", "time": "1.5"}
    cases = suite.findall("testcase")
    assert [case.get("classname") for case in cases] == ["pins", "pins", "floors", "champion"]
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.get("message") == "gets parcel"
    told = HOSTILE.replace("\x00", "\ufffd").replace("\x0b", "\ufffd").replace("\u202e", "[RLO]")
    assert failure.text == (
        f"gets parcel\nSo it is.\n“{told}” is labelled parcel by anna (import rows.csv)"
    )
    assert cases[0].get("name") == f"“{told}” must get refund"
    assert [len(case.findall("skipped")) for case in cases] == [0, 0, 0, 1]


def test_markdown_has_verdict_table_and_broken_pins_without_markup_of_texts() -> None:
    written = summary_markdown(report(BROKEN, KEPT, FLOOR, UNJUDGED))
    lines = written.splitlines()
    assert lines[0] == "## ❌ p@2 does not pass: 1 of 3 checks failed; 1 could not be judged."
    assert "| pins | 1 of 2 kept | ❌ failed |" in lines
    assert "| accuracy at least 90.0 % | 95.0 % | ✅ passed |" in lines
    [pin] = [line for line in lines if line.startswith("- **")]
    assert "\\<b\\> " in pin
    assert "\\[link\\](u) next" in pin
    [example] = [line for line in lines if line.startswith("  - ")]
    assert example.endswith("” is labelled parcel by anna (import rows.csv)")


def test_a_summary_of_many_broken_pins_stays_far_below_a_mebibyte() -> None:
    long = CheckResult("pin", "x" * 5_000, "failed", "y" * 5_000, examples=(EXAMPLE,) * 5)
    written = summary_markdown(report(*[long] * 3_000))
    assert len(written.encode()) < 1 << 18
    assert written.rstrip().endswith("- 2,950 pins more")


def test_all_passed_is_said_so() -> None:
    assert report(KEPT, FLOOR).verdict == "p@2 passes: 2 of 2 checks."
    assert report(KEPT).verdict == "p@2 passes: 1 of 1 check."
    assert summary_markdown(report(KEPT, FLOOR)).startswith("## ✅ p@2 passes")
    assert report(KEPT, FLOOR).passes
