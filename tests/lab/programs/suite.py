"""Programs of Debian's that nobody tuned the agent for, and what to have each do: the suite of scripts/bench.

Each does a fixed amount of work, `times` times over, and prints the same in every run; what it prints is compared.
"""
import math
import os
import random
import re
import statistics

JARS = "/usr/share/java"

SQL = """INSERT INTO T SELECT X, MOD(X * 7919, 1000), 'name' || X FROM SYSTEM_RANGE(1, 20000);
SELECT K, COUNT(*), MAX(S) FROM T GROUP BY K ORDER BY K LIMIT 3;
SELECT COUNT(*) FROM T A JOIN T B ON A.ID = B.ID + 1 WHERE A.K < B.K;
UPDATE T SET S = S || '.' WHERE K < 500;
SELECT COUNT(*), MIN(S) FROM T WHERE S LIKE '%9.';
DELETE FROM T;
"""
JAVASCRIPT = """function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.add = function (other) { return new Point(this.x + other.x, this.y - other.y); };
function round(n) {
  var sum = new Point(0, 0), seen = {}, list = [];
  for (var i = 0; i < n; i++) {
    sum = sum.add(new Point(i % 7, i % 3));
    seen['k' + i % 100] = sum.x;
    if (i % 10 == 0) list.push(sum);
  }
  list.sort(function (a, b) { return a.y - b.y; });
  return sum.x + sum.y + list[0].y + seen.k7;
}
var total = 0;
for (var i = 0; i < TIMES; i++) total += round(40000);
print(total);
"""
PYTHON = """class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def add(self, other):
        return Point(self.x + other.x, self.y - other.y)
def once(n):
    total, seen = Point(0, 0), {}
    for i in range(n):
        total = total.add(Point(i % 7, i % 3))
        seen['k%d' % (i % 100)] = total.x
    return sum(sorted(seen.values())) + total.y
result = 0
for i in range(TIMES):
    result += once(20000)
print(result)
"""
CLOJURE = """(defn once [n]
  (->> (range n)
       (map (fn [i] {:id i :group (mod (* i 7919) 97) :name (str "name" i)}))
       (filter (fn [m] (odd? (:id m))))
       (group-by :group)
       (map (fn [[k rows]] (+ k (count rows) (reduce + (map (comp count :name) rows)))))
       (reduce +)))
(println (reduce + (repeatedly TIMES (fn [] (once 20000)))))
"""
GROOVY = """class Point { int x, y; Point plus(Point o) { new Point(x: x + o.x, y: y - o.y) } }
def once(n) {
  def sum = new Point(x: 0, y: 0), seen = [:]
  for (i in 0..<n) { sum = sum + new Point(x: i % 7, y: i % 3); seen["k${i % 100}".toString()] = sum.x }
  seen.values().collect { it * 2 }.sum() + sum.y
}
long total = 0
TIMES.times { total += once(20000) }
println total
"""
SCALA = """sealed trait TreeN[+A]
case class LeafN[A](a: A) extends TreeN[A]
case class ForkN[A](l: TreeN[A], r: TreeN[A]) extends TreeN[A]
object ProgramN {
  def sum(t: TreeN[Int]): Int = t match { case LeafN(a) => a; case ForkN(l, r) => sum(l) + sum(r) }
  def words(s: String) = for (w <- s.split(" ").toList; if w.nonEmpty; c <- w.headOption) yield (c, w.length)
  def main(a: Array[String]): Unit =
    println((1 to 10).map(n => sum(ForkN(LeafN(n), LeafN(n * n)))).groupBy(_ % 3).mapValues(_.sum).toList.sorted)
}
"""
FO = ('<root xmlns="http://www.w3.org/1999/XSL/Format"><layout-master-set><simple-page-master master-name="p" page-height="29cm" '
      'page-width="21cm" margin="2cm"><region-body/></simple-page-master></layout-master-set><page-sequence '
      'master-reference="p"><flow flow-name="xsl-region-body">%s</flow></page-sequence></root>')
BLOCK = ('<block font-size="10pt" space-after="4pt" text-align="justify">%s</block><table table-layout="fixed" width="100%%">'
         '<table-body>%s</table-body></table>') % (
             "A line of text that is set in justified paragraphs, over and over. " * 8,
             "".join("<table-row>%s</table-row>" % "".join("<table-cell><block>cell %d.%d</block></table-cell>" % (row, cell)
                                                            for cell in range(4)) for row in range(5)))


class Program:
    """One of them.

    package: Debian's. jars: of its class path, in /usr/share/java. arguments: behind the class path; {0} is the input file,
    {1} where output goes. text(times): that file. times: of a short run."""

    def __init__(self, name, package, jars, arguments, ending, text, times):
        self.name = name
        self.package = package
        self.jars = [os.path.join(JARS, jar) for jar in jars]
        self.arguments = arguments
        self.ending = ending
        self.text = text
        self.times = times

    def is_installed(self):
        return all(os.path.exists(jar) for jar in self.jars)

    def prepare(self, folder, times):
        """The command behind java and its options."""
        path = os.path.join(folder, "%s-%d%s" % (self.name, times, self.ending))
        with open(path, "w") as file:
            file.write(self.text(times))
        out = os.path.join(folder, self.name + ".out")
        if self.ending == ".scala":
            os.makedirs(out, exist_ok=True)
        return ["-cp", ":".join(self.jars)] + [argument.format(path, out) for argument in self.arguments]


def filled(text):
    return lambda times: text.replace("TIMES", str(times))


def fop_jars():
    """As /usr/bin/fop finds them."""
    return ["fop.jar"] + [name for name in ("commons-io.jar", "serializer.jar", "xalan2.jar", "xml-apis.jar", "batik-all.jar",
                                            "commons-logging.jar", "xercesImpl.jar", "xmlgraphics-commons.jar", "xml-apis-ext.jar",
                                            "fontbox2.jar") if os.path.exists(os.path.join(JARS, name))]


PROGRAMS = [
    Program("h2", "libh2-java", ["h2.jar"], ["org.h2.tools.RunScript", "-url", "jdbc:h2:mem:", "-script", "{0}", "-showResults"],
            ".sql", lambda times: "CREATE TABLE T(ID INT PRIMARY KEY, K INT, S VARCHAR);\n" + SQL * times, 5),
    Program("jython", "jython", ["jython.jar"], ["-Dpython.cachedir.skip=true", "-Dpython.home=/usr/share/jython",
                                                 "org.python.util.jython", "{0}"], ".py", filled(PYTHON), 12),
    Program("clojure", "clojure", ["clojure.jar"], ["clojure.main", "{0}"], ".clj", filled(CLOJURE), 25),
    Program("rhino", "rhino", ["js.jar"], ["org.mozilla.javascript.tools.shell.Main", "{0}"], ".js", filled(JAVASCRIPT), 25),
    Program("fop", "fop", fop_jars(),
            ["-Djava.awt.headless=true", "-Dorg.apache.commons.logging.Log=org.apache.commons.logging.impl.NoOpLog",
             "org.apache.fop.cli.Main", "-q", "-fo", "{0}", "-pdf", "{1}"], ".fo", lambda times: FO % (BLOCK * times), 60),
    Program("scala", "scala", ["scala-compiler.jar", "scala-library.jar", "scala-reflect.jar"],
            ["-Dscala.usejavacp=true", "scala.tools.nsc.Main", "-d", "{1}", "{0}"], ".scala",
            lambda times: "".join(re.sub(r"N\b", str(number), SCALA) for number in range(times)), 3),
    Program("groovy", "groovy", ["groovy-all.jar"], ["groovy.ui.GroovyMain", "{0}"], ".groovy", filled(GROOVY), 10),
]


LONGER = 5


def bounds(ratios):
    """Of the median of these ratios, one of each pair of runs: 95 % of the medians of as many, drawn of them at random, lie between."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[-51]


def answer(output):
    """What the program itself has printed: without the lines of the VM and of the agent."""
    return [line for line in output.splitlines() if not line.startswith((b"HPROF", b"OpenJDK", b"WARNING", b"["))]


class Times:
    """Of one program, short and long runs: [[Sample]] by round and variant; the first variant has no agent."""

    def __init__(self, short, long):
        self.short = short
        self.long = long

    def ratios(self, rounds, what, variant, base=0):
        """Each round by itself, so that the machine's mood cancels out."""
        return [getattr(samples[variant], what) / getattr(samples[base], what) for samples in rounds]

    def ratio(self, *which):
        return statistics.median(self.ratios(*which))

    def steady(self, variant):
        """CPU of what the long run has more than the short one: warm-up is left out. None: too little to tell."""
        def more(which):
            return (statistics.median(samples[which].cpu for samples in self.long) -
                    statistics.median(samples[which].cpu for samples in self.short))
        return more(variant) / more(0) if more(0) > 0.2 and more(variant) > 0 else None

    def more_resident(self, rounds, variant):
        """MiB at the peak."""
        def resident(which):
            return statistics.median(samples[which].resident_kib for samples in rounds) / 1024
        return resident(variant) - resident(0)


def measure_program(program, folder, variants, rounds, run):
    """run(command, variant) is one run, with the text that it printed as .output."""
    def measured(times):
        command = program.prepare(folder, times)
        found, printed = [], None
        for number in range(rounds):
            order = variants if number % 2 == 0 else variants[::-1]
            samples = {variant: run(command, variant) for variant in order}
            found.append([samples[variant] for variant in variants])
            for variant in variants:
                printed = printed if printed is not None else answer(samples[variant].output)
                if answer(samples[variant].output) != printed:
                    raise SystemExit("bench: %s prints something else with %s" % (program.name, variant))
        return found
    return Times(measured(program.times), measured(LONGER * program.times))


def number(value):
    return "-" if value is None else "%.2f" % value


def rows_of(found, columns, cell):
    """A row for each program, then the geometric mean and the worst; cell(times, column) is a list of numbers."""
    lines = ["| %s | %s |" % (name, " | ".join(", ".join(number(value) for value in cell(times, column)) for column in columns))
             for name, times in found.items()]
    for text, joined in (("geometric mean", lambda values: math.exp(statistics.mean(math.log(value) for value in values))),
                         ("worst", max)):
        cells = []
        for column in columns:
            by_place = zip(*(cell(times, column) for times in found.values()))
            known = [[value for value in values if value is not None] for values in by_place]
            cells.append(", ".join(number(joined(values) if values else None) for values in known))
        lines.append("| %s | %s |" % (text, " | ".join(cells)))
    return lines


def tables(found, modes, against):
    """modes: what the table says of each. Variants are none, each mode, and again each mode with the other build."""
    columns = list(range(1, len(modes) + 1))
    head = ["| program | %s |" % " | ".join(modes), "| --- |" + " ---: |" * len(modes)]
    lines = ["CPU: short run, long run, steady state:", ""] + head
    lines += rows_of(found, columns, lambda times, at: [times.ratio(times.short, "cpu", at), times.ratio(times.long, "cpu", at),
                                                        times.steady(at)])
    lines += ["", "95 % bounds of the short run's and of the long run's CPU:", ""] + head
    lines += ["| %s | %s |" % (name, " | ".join("%.2f to %.2f, %.2f to %.2f" % (bounds(times.ratios(times.short, "cpu", at)) +
                                                                               bounds(times.ratios(times.long, "cpu", at)))
                                                for at in columns)) for name, times in found.items()]
    lines += ["", "Wall time: short run, long run:", ""] + head
    lines += rows_of(found, columns, lambda times, at: [times.ratio(times.short, "wall", at), times.ratio(times.long, "wall", at)])
    lines += ["", "MiB more in memory at the peak of the process (the VM touches its heap as it fills it): short run, long run:", ""] + head
    lines += ["| %s | %s |" % (name, " | ".join("%+.0f, %+.0f" % (times.more_resident(times.short, at),
                                                                  times.more_resident(times.long, at)) for at in columns))
              for name, times in found.items()]
    if against:
        lines += ["", "CPU with the first build by that with the other one, in pairs: short run, long run:", ""] + head
        lines += rows_of(found, columns, lambda times, at: [times.ratio(times.short, "cpu", at, at + len(modes)),
                                                            times.ratio(times.long, "cpu", at, at + len(modes))])
    base = ", ".join("%s %s and %s" % (name, *("%.1f" % statistics.median(samples[0].cpu for samples in rounds)
                                               for rounds in (times.short, times.long))) for name, times in found.items())
    return lines + ["", "CPU seconds without the agent, short and long: %s." % base]
