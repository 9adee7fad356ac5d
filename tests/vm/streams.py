"""A reader of format=json,events=y."""
import collections

from harness import check, check_equal
from pictures import Json

SAMPLES = "hprof.cpu_sample_events/1"
BATCH = 512
# A sample has its time before its stack is walked: the report may begin in between.
WALK_NS = 50_000_000


class Stream(Json):
    """A run's events; each batch is checked."""

    def __init__(self, text):
        super().__init__(text)
        begin = self.records[0]
        self.begin_ns, self.end_ns = begin["created_ns"], begin["created_ns"] + (self.records[-1]["time_us"] + 1) * 1000
        self.window = self.named("report_begin")[-1]
        self.stack_of = {id(row): frames for table in self.tables for frames, row, _ in table.stacks}
        check_equal([record["text"] for record in self.named("note") if record["text"].startswith("lost ")], [], "losses")

    def events(self, name):
        rows = []
        for table in self.tables:
            if table.name != name:
                continue
            check_equal(table.head["flags"], ["events"], "flags of %s" % name)
            cells = [row for _, row, _ in table.stacks]
            times = [row["at"] for row in cells]
            check(0 < len(times) <= BATCH, "%d events in a batch" % len(times))
            check_equal(times, sorted(times), "times of a batch")
            check(self.window["begin_ns"] <= times[0] and times[-1] <= self.end_ns,
                  "times from %d to %d, the window begins at %d, the file ends at %d" %
                  (times[0], times[-1], self.window["begin_ns"], self.end_ns))
            rows += cells
        check(rows, "no events of %s" % name)
        return rows

    def frames(self, cells):
        return self.stack_of[id(cells)]

    def check_sum(self, of_events, of_table, columns, key):
        """The events of the window have at most what the table of the report counts, all of them at least that."""
        table = next(table for table in reversed(self.tables) if table.name == of_table)
        within, all_of_them, counted = (collections.Counter() for _ in range(3))
        for row in self.events(of_events):
            for column in columns:
                all_of_them[key(row), column] += row[column]
                if row["at"] <= self.window["end_ns"] - WALK_NS:
                    within[key(row), column] += row[column]
        for _, row, _ in table.stacks:
            for column in columns:
                counted[key(row), column] += row[column]
        counted = collections.Counter({name: value for name, value in counted.items() if value})
        for name in set(all_of_them) | set(counted):
            check(within[name] <= counted[name] <= all_of_them[name],
                  "%s: %d in the window, %d in the table, %d in all" % (name, within[name], counted[name], all_of_them[name]))
        return sum(counted.values())
