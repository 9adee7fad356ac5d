// Reads the data of the page, which stands in the element "data": a line each, fields separated by tabs; ids and
// cells that are ids in base 36. Text is escaped: \\ \t \n \r and \u003c for '<'.
//   v 1                         version
//   i key value                 about the profile: title, session, created, created_ms, utc_offset (seconds), pid;
//                               from, to ("12:03:10") and threads ("http-*"): what is shown first
//   s id text                   string
//   c id name                   class
//   f id class name source line frame (name and source: strings; line <= 0: none)
//   u id name                   thread
//   t id thread cut frame...    trace, outermost first; a frame "=n" stands for the first n of the trace before
//   r sequence reason unit from until cumulative program      report begins (milliseconds since 1970)
//   T name title flags          table; flags 4: its rows are events, and tables of its name continue each other; then
//   C name type flags title unit sample
//                               its columns: types 1 count, 2 nanoseconds, 3 bytes, 4 real, 5 trace, 6 class, 7 string,
//                               8 time (us since created_ms), 9 thread, 10 state of a thread (a number of STATES);
//                               flags 1 weight, 8 shown first, 16 state, 32 stands on top of the stack, 64 duration;
//                               sample: what a sample stands for, 0: not sampled
//   d cell...                   its rows
//   E                           its end
//   n text                      note
//   x label                     what follows is another profile, to be compared with the one before

const COUNT = 1, NANOSECONDS = 2, BYTES = 3, REAL = 4, TRACE = 5, CLASS = 6, TIME = 8, THREAD = 9, STATE = 10;
const WEIGHT = 1, DEFAULT = 8, IS_STATE = 16, LEAF = 32, DURATION = 64;
const EVENTS = 4;
const STATES = ['unknown', 'not started', 'runnable', 'blocked', 'waiting', 'sleeping', 'ended'];

const names = [];  // of methods, by number; the same in all profiles and at both levels of detail
const numbers = new Map();
const types = new Set();  // of names, those of classes that stand on top of stacks
const plain = [];  // names[i] without its line
function number(text, without) {
  let n = numbers.get(text);
  if (n === undefined) {
    numbers.set(text, n = names.length);
    names.push(text);
    plain.push(without === undefined ? n : without);
  }
  return n;
}
const unescape = (t) => t.includes('\\') ? t.replace(/\\(u003c|.)/g, (_, c) =>
  ({ t: '\t', n: '\n', r: '\r', u003c: '<' })[c] || c) : t;

// What the notes of cpu=samples and cpu=times say of the whole process: "cpu=samples: the process used 31.8 s of CPU time
// meanwhile, the Java threads in the table 13.4 s, the C2 compiler 14 s; the rest, 4.4 s, went to other threads, some ...".
// parts: names and seconds, the first is that of the table. interval: of cpu=samples, in ns.
function processesOf(notes) {
  const found = [];
  let interval = 0;
  for (const note of notes) {
    const engine = /^cpu=samples: engine .*, interval ([\d.]+) ms/.exec(note);
    if (engine) interval = engine[1] * 1e6;
    const used = /^cpu=\w+: the process used (.+) s of CPU time meanwhile, (.+); the rest, (.+) s, went to (other threads)?/.exec(note);
    if (!used) continue;
    const parts = used[2].split(', ').map((part) => /^(?:the )?(.+?)(?: in the table)? ([\d.]+) s$/.exec(part)).filter((part) => part).map(([, name, s]) => [name, +s]);
    found.push({ seconds: +used[1], interval, parts: [...parts, [used[4] || 'the VM and the profiler', +used[3]]].filter(([, s], i) => !i || s > 0) });
  }
  return found;
}
const OUTSIDE = 'VM and native threads';

class Side {
  constructor(label) {
    Object.assign(this, { label, info: {}, tables: [], marks: [], reports: [], notes: [], cut: 0, stacks: 0 });
    for (const kind of ['strings', 'classes', 'frames', 'traces', 'threads']) this[kind] = new Map();
    this.previous = [];  // the stack of the trace before
    this.read = [];      // tables as they were read
  }
  frame([id, owner, name, , line]) {
    const of = this.classes.get(owner), member = this.strings.get(name) || '?';
    const method = of === '' ? member : (of || '?') + '.' + member;
    const without = number(method);
    this.frames.set(id, line > 0 ? number(method + ':' + line, without) : without);
  }
  trace(field) {
    let stack = [], at = 3;
    if (field[3] && field[3][0] === '=') { stack = this.previous.slice(0, +field[3].slice(1)); at = 4; }
    for (; at < field.length; at++) {
      const frame = this.frames.get(field[at]);
      stack.push(frame === undefined ? number('?') : frame);
    }
    this.stacks++;
    if (+field[2]) this.cut++;
    this.traces.set(field[0], { stack, thread: field[1] });
    this.previous = stack;
  }
  // Returns the table that the columns and rows that follow belong to.
  table(field, report) {
    const events = !!(field[2] & EVENTS);
    const made = { name: field[0], title: unescape(field[1]), events, columns: [], lines: [], report };
    const known = events && this.read.find((t) => t.name === made.name);
    if (known) { known.columns = []; return known; }
    this.read.push(made);
    return made;
  }
  // The windows of every= add up; what is a state is that of the last one.
  addWindows() {
    for (const name of new Set(this.read.map((t) => t.name))) {
      const windows = this.read.filter((t) => t.name === name && t.report && t.report.isWindow), last = windows[windows.length - 1];
      if (windows.length < 2) continue;
      const lines = windows.flatMap((t) => t.lines);
      this.read.push({ ...last, lines, report: null, windows: windows.length, live: lines.length - last.lines.length });
    }
  }
  // Adds to a table the stacks of what else the process ran, if a note is about it and not about another report: rows
  // below the cutoff may be missing, and a text report rounds shares.
  addOutside(table, processes) {
    const column = (test) => table.columns.findIndex(test), weight = (name) => column((c) => c.name === name && c.flags & WEIGHT);
    const samples = weight('samples'), time = weight('time'), trace = column((c) => c.type === TRACE);
    if (table.events || trace < 0 || !/cpu_(samples|times)/.test(table.name)) return;
    const sum = (at) => table.lines.reduce((all, line) => all + (+line.split('\t')[at] || 0), 0), count = sum(samples), time_ns = sum(time);
    for (const process of processes) {
      const share = (time < 0 ? count * process.interval : time_ns) / process.parts[0][1] / 1e9;
      if (share > 0.9 && share < 1.1) table.process = process;
    }
    if (!table.process) return;
    const [[, whole], ...others] = table.process.parts;
    for (const [name, s] of others) {
      this.traces.set('*' + name, { stack: [number(OUTSIDE), number(name)], thread: '0' });
      table.lines.push(table.columns.map((c, at) => at === trace ? '*' + name : at === time ? s * 1e9 : at === samples ? Math.round(s / whole * count) : 0).join('\t'));
    }
  }
  finish() {
    this.addWindows();
    const processes = processesOf(this.notes);
    if (processes.length) for (const table of this.read) this.addOutside(table, processes);
    for (const table of this.read) finishTable(this, table);
    for (const kind of ['strings', 'frames', 'traces', 'read', 'previous']) delete this[kind];
  }
}

function read(text) {
  const sides = [];
  let side, table, report;
  const begin = (label) => { sides.push(side = new Side(label)); table = report = null; };
  begin('');
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    if (end < 0) break;  // a line that was cut short says nothing
    const kind = text[from];
    const line = text.slice(from + 2, end);
    from = end + 1;
    if (kind === 'd') {
      if (table) table.lines.push(line);
      continue;
    }
    const field = line.split('\t');
    switch (kind) {
      case 's': side.strings.set(field[0], unescape(field[1])); break;
      case 'c': side.classes.set(field[0], side.strings.has(field[1]) ? side.strings.get(field[1]) : '?'); break;
      case 'f': side.frame(field); break;
      case 'u': side.threads.set(field[0], unescape(field[1])); break;
      case 't': side.trace(field); break;
      case 'r':
        report = { sequence: +field[0], reason: field[1], unit: field[2], from: +field[3], until: +field[4], program: unescape(field[6] || '') };
        report.isWindow = field[5] === '0' && field[1] !== 'command';
        side.reports.push(report);
        break;
      case 'T': table = side.table(field, report); break;
      case 'C':
        if (table) table.columns.push({ name: field[0], type: +field[1], flags: +field[2], title: unescape(field[3] || field[0]), unit: unescape(field[4] || ''), sample: +field[5] || 0 });
        break;
      case 'E': table = null; break;
      case 'n': side.notes.push(unescape(line)); break;
      case 'i': side.info[field[0]] = unescape(field[1] || ''); break;
      case 'x': if (side.read.length || side.label) begin(unescape(line)); else side.label = unescape(line); break;
    }
  }
  sides.forEach((s) => s.finish());
  return sides;
}

// The number of a text in a list, to which it is added if it is new.
function numberOf(known, text, list) {
  let n = known.get(text);
  if (n === undefined) { known.set(text, n = list.length); list.push(text); }
  return n;
}

// Turns the lines of a table into arrays by row: the number of its stack, its weights, and of events the end, the
// duration (both in ms), thread and state. Tables with stacks are drawn; events with a duration are marks in the band.
function finishTable(side, table) {
  const { columns, lines } = table, find = (test) => columns.findIndex(test);
  const trace = find((c) => c.type === TRACE), top = find((c) => c.flags & LEAF), time = find((c) => c.type === TIME);
  const duration = find((c) => c.flags & DURATION), thread = find((c) => c.type === THREAD), state = find((c) => c.type === STATE);
  const tops = top >= 0 && columns[top].type === CLASS ? side.classes : side.strings;
  table.weights = columns.map((c, at) => ({ ...c, at })).filter((c) => c.flags & WEIGHT && c.type <= REAL);
  table.lines = null;
  if (!lines.length) return;
  const rows = lines.length, drawn = trace >= 0 && table.weights.length, live = table.live || 0;
  table.at = time >= 0 ? new Float64Array(rows) : null;
  table.took = duration >= 0 ? new Float64Array(rows) : null;
  table.states = state >= 0 ? new Uint8Array(rows) : null;
  table.threadNames = [];
  table.threadOf = new Int32Array(rows);  // numbers of threadNames
  table.stacks = [];                         // distinct ones, arrays of names, outermost first
  table.stackOf = new Int32Array(rows);
  table.values = table.weights.map(() => new Float64Array(rows));
  const known = new Map();        // numbers of stacks, by trace and leaf
  const knownThreads = new Map();  // numbers of threads, by name
  lines.forEach((line, i) => {
    const cells = line.split('\t'), found = side.traces.get(cells[trace]), leaf = top >= 0 && tops.get(cells[top]);
    if (time >= 0) table.at[i] = cells[time] / 1e3;
    if (duration >= 0) table.took[i] = cells[duration] / 1e6;
    if (state >= 0) table.states[i] = cells[state];
    table.threadOf[i] = numberOf(knownThreads, side.threads.get(thread >= 0 ? cells[thread] : found && found.thread) || '', table.threadNames);
    table.weights.forEach((w, k) => { table.values[k][i] = w.flags & IS_STATE && i < live ? 0 : +cells[w.at] || 0; });
    if (!drawn) return;
    const key = cells[trace] + ' ' + leaf;
    let n = known.get(key);
    if (n === undefined) {
      const stack = found && found.stack.length ? found.stack : [number('(no trace)')];
      known.set(key, n = table.stacks.length);
      if (leaf) types.add(number(leaf));
      table.stacks.push(leaf ? [...stack, number(leaf)] : stack);
    }
    table.stackOf[i] = n;
  });
  table.chosen = Math.max(0, table.weights.findIndex((w) => w.flags & DEFAULT));
  if (drawn) side.tables.push(table);
  if (table.at && table.took) side.marks.push(table);
}
