"""HL7 v2 messages per second of one core, against python-hl7 parsing the same messages whole.

``python benchmarks/formats_speed.py [messages] [feed.hl7]``; without a feed, invented messages with
thirty lines of text each.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import hl7

from pipeline.formats.hl7v2 import Hl7Options, framing, read

TARGET = 500.0
HEAD = (
    "MSH|^~\\&|RIS|NORTHMOOR|X|Y|20260301120000||ORU^R01|{n}|P|2.7\r"
    "PID|1||M{n}^^^NM^MR~E{n}^^^EP^MRN||DOE^JANE^Q||19500415|F\rPV1||E\r"
    "OBR|1|O{n}|ACC{n}|XR100^XR CHEST 1 VIEW||20260301100000||||||||||D9^REF^RAY||CHEST||||"
    "20260301113000||CR|Final||||||||D5^HOPE^FAITH\r"
)
LINE = "OBX|{k}|ST|&GDT|1|The lungs are clear without focal consolidation, line {k}.||||||Final\r"


def main() -> None:
    """Read the messages and print both rates."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder) / "feed.hl7"
        if len(sys.argv) <= 2:
            body = "".join(LINE.format(k=k) for k in range(1, 31))
            path.write_text("".join(HEAD.format(n=i) + body for i in range(n)), encoding="utf-8")
        start = time.process_time()
        batches = list(read(path, Hl7Options()))
        ours = time.process_time() - start
        exams = sum(len(batch.exams) for batch in batches)
        aside = sum(len(batch.quarantined) for batch in batches)
        pieces = framing.messages(path, framing.Batches())
        raw = [message.decode("utf-8", "replace") for message in pieces]
    start = time.process_time()
    for message in raw:
        hl7.parse(message.replace("\r\n", "\r").replace("\n", "\r"))
    theirs = time.process_time() - start
    rate = len(raw) / ours
    print(
        f"{len(raw)} messages, {exams} exams, {aside} set aside; {os.cpu_count()} cores, one used"
    )
    print(f"messages → exams: {rate:.0f}/s, {rate / TARGET:.2f} of the target {TARGET:.0f}/s")
    ratio = theirs / ours
    print(f"python-hl7, parsing only: {len(raw) / theirs:.0f}/s; ours is {ratio:.2f} times that")


if __name__ == "__main__":
    main()
