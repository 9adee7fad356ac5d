// The page that draws a profile: flame graph, callers, table of methods, differences of two profiles.
//
// Its data stands in the element "data", a line each, fields separated by tabs; ids and cells that
// are ids in base 36. Text is escaped: \\ \t \n \r and \u003c for '<'.
//   v 1                         version
//   i key value                 about the profile: title, options, vm, created
//   s id text                   string
//   c id name                   class
//   f id class name source line frame (name and source: strings; line <= 0: none)
//   u id name                   thread
//   t id thread cut frame...    trace, outermost first; a frame "=n" stands for the first n of the trace before
//   r sequence reason unit from until cumulative      report begins (milliseconds since 1970)
//   T name title                table; then
//   C name type flags title     its columns: types 1 count, 2 nanoseconds, 3 bytes, 4 real, 5 trace, 6 class, 7 string;
//                               flags 1 weight, 8 shown first, 16 state, 32 stands on top of the stack
//   d cell...                   its rows
//   E                           its end
//   n text                      note
//   x label                     what follows is another profile, to be compared with the one before
'use strict';
(() => {
const $ = (id) => document.getElementById(id);
const began = performance.now();
const ROW = 17;
const TYPES = ['', 'count', 'ns', 'bytes', 'real'];

// --- reading -------------------------------------------------------------------------------------------------------

const names = [];  // of methods, by number; the same in all profiles and at both levels of detail
const numbers = new Map();
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

function read(text) {
  const sides = [];
  let side, strings, classes, frames, traces, threads, table, previous, report;
  const begin = (label) => {
    side = { label, info: {}, tables: [], notes: [], pool: [], cut: 0, stacks: 0 };
    sides.push(side);
    strings = new Map(); classes = new Map(); frames = new Map(); traces = new Map(); threads = new Map();
    previous = []; table = null; report = null;
  };
  begin('');
  for (let from = 0; from < text.length;) {
    let end = text.indexOf('\n', from);
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
      case 's': strings.set(field[0], unescape(field[1])); break;
      case 'c': classes.set(field[0], strings.has(field[1]) ? strings.get(field[1]) : '?'); break;
      case 'f': {
        const owner = classes.get(field[1]), member = strings.get(field[2]) || '?';
        const method = owner === '' ? member : (owner || '?') + '.' + member;
        const without = number(method);
        frames.set(field[0], field[4] > 0 ? number(method + ':' + field[4], without) : without);
        break;
      }
      case 'u': threads.set(field[0], unescape(field[1])); break;
      case 't': {
        let stack = [], at = 3;
        if (field[3] && field[3][0] === '=') { stack = previous.slice(0, +field[3].slice(1)); at = 4; }
        for (; at < field.length; at++) {
          const frame = frames.get(field[at]);
          stack.push(frame === undefined ? number('?') : frame);
        }
        side.stacks++;
        if (+field[2]) side.cut++;
        traces.set(field[0], { stack, thread: field[1], cut: +field[2] });
        previous = stack;
        break;
      }
      case 'r': report = { sequence: +field[0], reason: field[1], unit: field[2], from: +field[3], until: +field[4] }; break;
      case 'T': table = { name: field[0], title: unescape(field[1]), columns: [], lines: [], report, threads }; break;
      case 'C': if (table) table.columns.push({ name: field[0], type: +field[1], flags: +field[2], title: unescape(field[3] || field[0]) }); break;
      case 'E': if (table) finish(side, table, traces, classes, strings); table = null; break;
      case 'n': side.notes.push(unescape(line)); break;
      case 'i': side.info[field[0]] = unescape(field[1] || ''); break;
      case 'x': if (side.tables.length || side.label) begin(unescape(line)); else side.label = unescape(line); break;
    }
  }
  if (table) finish(side, table, traces, classes, strings);
  return sides;
}

// Keeps of a table what is drawn: the stacks and the columns that weigh them.
function finish(side, table, traces, classes, strings) {
  const trace = table.columns.findIndex((c) => c.type === 5), top = table.columns.findIndex((c) => c.flags & 32);
  const tops = top >= 0 && table.columns[top].type === 6 ? classes : strings;
  table.weights = [];
  table.columns.forEach((c, at) => { if (c.flags & 1 && c.type >= 1 && c.type <= 4) table.weights.push({ ...c, at }); });
  if (trace < 0 || !table.weights.length || !table.lines.length) return;
  table.stacks = [];
  table.values = table.weights.map(() => new Float64Array(table.lines.length));
  table.lines.forEach((line, i) => {
    const cells = line.split('\t');
    const found = traces.get(cells[trace]);
    const stack = found && found.stack.length ? found.stack : [number('(no trace)')], leaf = top >= 0 && tops.get(cells[top]);
    table.stacks.push(leaf ? [...stack, number(leaf)] : stack);
    table.weights.forEach((w, k) => { table.values[k][i] = +cells[w.at] || 0; });
  });
  table.lines = null;
  table.chosen = Math.max(0, table.weights.findIndex((w) => w.flags & 8));
  side.tables.push(table);
}

// --- trees ---------------------------------------------------------------------------------------------------------

// A call tree in parallel arrays. a: weight of the one profile (or of the first of two), b: of the second.
class Tree {
  constructor() {
    this.size = 0;
    this.grow(1024);
    this.slots = new Int32Array(4096).fill(-1);
    this.add(-1, -1, 0);
  }
  grow(room) {
    const more = (old, Type) => { const made = new Type(room); if (old) made.set(old); return made; };
    this.parent = more(this.parent, Int32Array); this.name = more(this.name, Int32Array);
    this.depth = more(this.depth, Int32Array);
    this.a = more(this.a, Float64Array); this.b = more(this.b, Float64Array);
    this.selfA = more(this.selfA, Float64Array); this.selfB = more(this.selfB, Float64Array);
    this.room = room;
  }
  add(parent, name, depth) {
    if (this.size === this.room) this.grow(this.room * 2);
    const node = this.size++;
    this.parent[node] = parent; this.name[node] = name; this.depth[node] = depth;
    return node;
  }
  static slot(parent, name, mask) {
    return (Math.imul(parent, 0x9e3779b1) ^ Math.imul(name, 0x85ebca6b)) >>> 7 & mask;
  }
  child(parent, name) {
    let mask = this.slots.length - 1, at = Tree.slot(parent, name, mask);
    for (let node; (node = this.slots[at]) >= 0; at = at + 1 & mask) {
      if (this.parent[node] === parent && this.name[node] === name) return node;
    }
    const node = this.slots[at] = this.add(parent, name, this.depth[parent] + 1);
    if (this.size * 2 > this.slots.length) {
      this.slots = new Int32Array(this.slots.length * 4).fill(-1);
      mask = this.slots.length - 1;
      for (let n = 1; n < this.size; n++) {
        at = Tree.slot(this.parent[n], this.name[n], mask);
        while (this.slots[at] >= 0) at = at + 1 & mask;
        this.slots[at] = n;
      }
    }
    return node;
  }
  // Sums up and puts children in order: width is a + b, left the sum of what stands before in the parent.
  finish() {
    const n = this.size;
    for (let i = n - 1; i > 0; i--) { this.a[this.parent[i]] += this.a[i]; this.b[this.parent[i]] += this.b[i]; }
    this.first = new Int32Array(n + 1);
    for (let i = 1; i < n; i++) this.first[this.parent[i] + 1]++;
    for (let i = 0; i < n; i++) this.first[i + 1] += this.first[i];
    const fill = this.first.slice();
    this.children = new Int32Array(n - 1);
    for (let i = 1; i < n; i++) this.children[fill[this.parent[i]]++] = i;
    this.left = new Float64Array(n);
    this.deepest = 0;
    for (let i = 0; i < n; i++) {
      if (this.depth[i] > this.deepest) this.deepest = this.depth[i];
      const kids = this.children.subarray(this.first[i], this.first[i + 1]);
      if (kids.length > 1) kids.sort((x, y) => this.width(y) - this.width(x) || (names[this.name[x]] < names[this.name[y]] ? -1 : 1));
      let left = this.left[i];
      for (const kid of kids) { this.left[kid] = left; left += this.width(kid); }
    }
    this.slots = null;
  }
  width(node) { return this.a[node] + this.b[node]; }
  path(node) {
    const path = [];
    for (; node > 0; node = this.parent[node]) path.push(this.name[node]);
    return path.reverse();
  }
  find(path) {
    let node = 0;
    for (const name of path) {
      let next = -1;
      for (let k = this.first[node]; k < this.first[node + 1]; k++) if (this.name[this.children[k]] === name) next = this.children[k];
      if (next < 0) return 0;
      node = next;
    }
    return node;
  }
}

// Calls each(stack, a, b) for what is shown now; a stack is an array of names, outermost first.
function eachStack(each) {
  state.sides.forEach((side, s) => {
    const table = tableOf(side);
    if (!table) return;
    const values = table.values[weightOf(table)];
    const scale = state.norm && s === 0 && state.total[0] ? state.total[1] / state.total[0] : 1;
    for (let i = 0; i < values.length; i++) {
      const w = values[i] * scale;
      if (w > 0) each(table.stacks[i], s === 0 ? w : 0, s === 0 ? 0 : w);
    }
  });
}
const level = (name) => state.lines ? name : plain[name];

function build() {
  state.total = state.sides.map((side) => {
    const table = tableOf(side);
    return table ? table.values[weightOf(table)].reduce((x, y) => x + y, 0) : 0;
  });
  const tree = new Tree();
  const reversed = state.view === 'callers';
  eachStack((stack, a, b) => {
    let node = 0;
    if (!reversed) {
      for (let i = 0; i < stack.length; i++) node = tree.child(node, level(stack[i]));
    } else {
      let from = stack.length - 1;
      if (state.focus >= 0) {
        // Callers of a method: from its innermost call outwards, so that recursion counts once.
        while (from >= 0 && level(stack[from]) !== state.focus) from--;
        if (from < 0) return;
      }
      for (let i = from; i >= 0; i--) node = tree.child(node, level(stack[i]));
    }
    tree.a[node] += a; tree.b[node] += b;
    tree.selfA[node] += a; tree.selfB[node] += b;
  });
  tree.finish();
  state.tree = tree;
  state.methods = null;
}

// Self and total of each method; a stack counts once for a method however often it is in it.
function methods() {
  if (state.methods) return state.methods;
  const found = new Map(), seen = new Int32Array(names.length).fill(-1);
  let at = 0;
  eachStack((stack, a, b) => {
    for (let i = stack.length - 1; i >= 0; i--) {
      const name = level(stack[i]);
      let row = found.get(name);
      if (!row) found.set(name, row = { name, selfA: 0, selfB: 0, a: 0, b: 0 });
      if (i === stack.length - 1) { row.selfA += a; row.selfB += b; }
      if (seen[name] === at) continue;
      seen[name] = at;
      row.a += a; row.b += b;
    }
    at++;
  });
  return state.methods = [...found.values()];
}

// --- what is shown -------------------------------------------------------------------------------------------------

const state = { sides: [], tables: [], table: 0, weight: '', view: 'icicle', zoom: [], focus: -1, query: '', lines: false,
  norm: false, grid: false, tree: null, total: [], selected: 0, past: [], sort: 'self', painted: 0 };
const isDiff = () => state.sides.length > 1;
const tableOf = (side) => {
  const wanted = state.tables[state.table];
  return wanted && side.tables.find((t, i) => side === wanted.side ? i === wanted.index : t.name === wanted.table.name);
};
// Of two profiles those weights are offered that both have.
const offered = () => {
  const table = state.tables[state.table].table, others = state.sides.map(tableOf).filter((t) => t && t !== table);
  const common = table.weights.filter((w) => others.every((t) => t.weights.some((o) => o.name === w.name)));
  return common.length ? common : table.weights;
};
const weight = () => {
  const all = offered();
  return all.find((w) => w.name === state.weight) || all.find((w) => w.flags & 8) || all[0];
};
const weightOf = (table) => { const { name } = weight(); return Math.max(0, table.weights.findIndex((w) => w.name === name)); };

function amount(value, change) {
  const type = weight().type, sign = value < 0 ? '-' : change && isDiff() && value > 0 ? '+' : '';
  const v = Math.abs(value);
  const pick = (steps) => { for (const [least, name] of steps) if (v >= least) return sign + (v / least).toFixed(v / least < 10 ? 2 : 1) + ' ' + name; return sign + Math.round(v) + ' ' + steps[steps.length - 1][1]; };
  if (type === 2) return pick([[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);
  if (type === 3) return pick([[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]);
  return type === 4 ? sign + v.toPrecision(4) : sign + Math.round(v).toLocaleString('en');
}
const percent = (part, whole) => whole ? (100 * part / whole).toFixed(2) + '%' : '-';

const zoomed = () => state.zoom.length ? state.tree.find(state.zoom) : 0;

// --- colours -------------------------------------------------------------------------------------------------------

const NEW = 38, GONE = 265;
const HUES = [14, 205, 135, 280, 48, 335, 175, 240, 95, 310];
let packages = new Map();
function packageOf(name) {
  const text = names[plain[name]];
  const paren = text.indexOf('(');
  const parts = (paren > 0 ? text.slice(0, paren) : text).split('.');
  // class and method go; of the rest the first two say whose code it is
  return parts.slice(0, Math.max(0, Math.min(2, parts.length - 2))).join('.') || '(no package)';
}
const packageCache = [];
const cachedPackage = (name) => packageCache[name] || (packageCache[name] = packageOf(name));
function choosePackages() {
  const sums = new Map();
  eachStack((stack, a, b) => {
    const p = cachedPackage(stack[stack.length - 1]);
    sums.set(p, (sums.get(p) || 0) + a + b);
  });
  packages = new Map([...sums].sort((x, y) => y[1] - x[1]).slice(0, HUES.length).map(([p], i) => [p, HUES[i]]));
}
const dark = () => document.documentElement.dataset.theme === 'dark';
function colour(node) {
  const tree = state.tree, name = tree.name[node], shade = (name * 7) % 9;
  if (isDiff()) {
    const a = tree.a[node], b = tree.b[node], d = (b - a) / (a + b);
    if (a === 0 || b === 0) return `hsl(${a === 0 ? NEW : GONE},${dark() ? 60 : 75}%,${dark() ? 38 : 70}%)`;
    const l = dark() ? 34 + 6 * Math.abs(d) : 88 - 30 * Math.abs(d);
    return `hsl(${d >= 0 ? 8 : 214},${Math.round(90 * Math.min(1, Math.abs(d) * 1.6))}%,${l}%)`;
  }
  const hue = packages.get(cachedPackage(name));
  const l = dark() ? 31 + shade : 72 + shade;
  return hue === undefined ? `hsl(0,0%,${l}%)` : `hsl(${hue},${dark() ? 45 : 68}%,${l}%)`;
}

// --- drawing -------------------------------------------------------------------------------------------------------

let drawn = [];  // rows of what is on the canvas, for the mouse: {depth, x, w, node}
let matched = null;  // by name: 1 matches the search
let hits = [];  // nodes that match, outermost only, from left to right
const context = $('canvas').getContext('2d');
let pending = 0;
const redraw = () => { if (!pending) pending = requestAnimationFrame(() => { pending = 0; draw(); }); };

function draw() {
  if (!state.tree) return;
  const tree = state.tree, box = $('graph'), width = box.clientWidth, height = box.clientHeight;
  const zoom = zoomed(), base = tree.depth[zoom];
  const rows = tree.deepest + 1, flame = state.view === 'flame';
  const full = Math.max(rows * ROW + 4, height);
  $('room').style.height = Math.max(0, full - height) + 'px';
  const canvas = $('canvas'), ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
  }
  const style = getComputedStyle(document.documentElement), ink = dark() ? '#f2f3f5' : '#15171a';
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = style.getPropertyValue('--bg');
  context.fillRect(0, 0, width, height);
  context.font = '12px ui-monospace, monospace';
  context.textBaseline = 'middle';
  const letter = context.measureText('m').width;
  const scroll = box.scrollTop;
  const y = (depth) => (flame ? full - (depth + 1) * ROW - 2 : depth * ROW + 2) - scroll;
  const scale = tree.width(zoom) > 0 ? width / tree.width(zoom) : 0, left = tree.left[zoom];
  drawn = [];
  const last = new Float64Array(rows + 1).fill(-1);
  const hit = style.getPropertyValue('--hit'), mark = style.getPropertyValue('--sel');
  const paint = (node, x, w, above) => {
    const top = y(tree.depth[node]);
    if (top < -ROW || top > height) return;
    const name = tree.name[node];
    drawn.push({ x, w, top, node });
    context.globalAlpha = above ? 0.55 : 1;
    context.fillStyle = node === 0 ? (dark() ? '#4a4f55' : '#cfd3d8') : matched && matched[name] ? hit : colour(node);
    context.fillRect(x, top, Math.max(w - (w > 2 ? 0.6 : 0), 0.5), ROW - 1);
    if (node === state.selected && node > 0) { context.strokeStyle = mark; context.lineWidth = 2; context.strokeRect(x + 1, top + 1, Math.max(1, w - 2), ROW - 3); }
    const letters = Math.floor((w - 6) / letter);
    if (letters >= 3) {
      let text = node === 0 ? 'all: ' + amount(tree.width(0)) : names[name];
      if (node > 0 && text.length > letters) text = shorten(text, letters);
      if (text.length > letters) text = text.slice(0, letters - 1) + '…';
      context.fillStyle = ink;
      context.fillText(text, x + 3, top + ROW / 2);
    }
    context.globalAlpha = 1;
  };
  for (let node = tree.parent[zoom]; node >= 0; node = tree.parent[node]) paint(node, 0, width, true);
  const stack = [zoom];
  while (stack.length) {
    const node = stack.pop(), w = tree.width(node) * scale, x = (tree.left[node] - left) * scale, depth = tree.depth[node];
    if (w < 0.4 && x - last[depth] < 0.5) continue;  // another one stands on this spot already
    last[depth] = x;
    paint(node, x, w, false);
    if (w < 0.4) continue;
    for (let k = tree.first[node + 1] - 1; k >= tree.first[node]; k--) stack.push(tree.children[k]);
  }
  if (!state.painted) state.painted = performance.now() - began;
}

// Fits a name into so many letters: packages go first, then the class.
function shorten(text, letters) {
  const parts = text.split('.');
  while (parts.length > 2 && parts.join('.').length > letters) parts.shift();
  if (parts.length === 2 && parts.join('.').length > letters && parts[1].length <= letters) parts.shift();
  return parts.join('.');
}

function nodeAt(event) {
  const box = $('canvas').getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  for (let i = drawn.length - 1; i >= 0; i--) {
    const d = drawn[i];
    if (y >= d.top && y < d.top + ROW && x >= d.x && x < d.x + Math.max(d.w, 1)) return d.node;
  }
  return -1;
}

function describe(node) {
  const tree = state.tree, w = tree.width(node), all = tree.width(0), up = node > 0 ? tree.width(tree.parent[node]) : all;
  const name = node === 0 ? 'all' : names[tree.name[node]];
  if (isDiff()) {
    const a = tree.a[node], b = tree.b[node];
    return { name, text: `before ${amount(a)} (${percent(a, tree.a[0])}), after ${amount(b)} (${percent(b, tree.b[0])}): ` +
      (a === 0 ? 'new' : b === 0 ? 'gone' : `${b >= a ? '+' : ''}${amount(b - a)} (${percent(b - a, a)})`) };
  }
  const self = tree.selfA[node];
  return { name, text: `${amount(w)}, ${percent(w, all)} of all, ${percent(w, up)} of parent` +
    (self > 0 ? `; self ${amount(self)} (${percent(self, all)})` : '') };
}

function say(node) {
  if (node < 0) { $('status').textContent = ''; return; }
  const { name, text } = describe(node);
  $('status').textContent = name + '  ' + text;
}

// --- search --------------------------------------------------------------------------------------------------------

function search() {
  const query = state.query.trim();
  matched = null;
  hits = [];
  $('share').textContent = '';
  if (!query) return;
  let test;
  const pattern = /^\/(.+)\/$/.exec(query);
  if (pattern) {
    try { const re = new RegExp(pattern[1], 'i'); test = (t) => re.test(t); } catch (e) { $('share').textContent = 'not a pattern'; return; }
  } else {
    const low = query.toLowerCase();
    test = (t) => t.toLowerCase().includes(low);
  }
  matched = new Uint8Array(names.length);
  let found = 0;
  names.forEach((n, i) => { if (test(n)) { matched[i] = 1; found++; } });
  // A subtree counts once, however often it matches further in.
  const tree = state.tree, open = [zoomed()];
  let sum = 0;
  while (open.length) {
    const node = open.pop();
    if (node > 0 && matched[tree.name[node]]) { sum += tree.width(node); hits.push(node); continue; }
    for (let k = tree.first[node + 1] - 1; k >= tree.first[node]; k--) open.push(tree.children[k]);
  }
  state.share = tree.width(zoomed()) ? sum / tree.width(zoomed()) : 0;
  $('share').textContent = found ? `${percent(sum, tree.width(zoomed()))} matched` : 'no match';
}

// Selects the next frame that matches.
function nextHit() {
  if (!hits.length) return;
  const at = (hits.indexOf(state.selected) + 1) % hits.length, tree = state.tree, box = $('graph');
  state.selected = hits[at];
  say(state.selected);
  $('share').textContent = `${at + 1} of ${hits.length}`;
  const top = tree.depth[state.selected] * ROW - box.clientHeight / 2;
  box.scrollTop = state.view === 'flame' ? box.scrollHeight - box.clientHeight - top : top;
  redraw();
}

// --- table of methods ----------------------------------------------------------------------------------------------

function columnsOfTable() {
  return isDiff()
    ? [['self', 'self change', (r) => r.selfB - r.selfA], ['total', 'total change', (r) => r.b - r.a], ['before', 'total before', (r) => r.a], ['after', 'total after', (r) => r.b],
      ['what', 'new, gone', (r) => r.a === 0 ? 2 : r.b === 0 ? 1 : 0]]
    : [['self', 'self', (r) => r.selfA], ['share', 'self %', (r) => r.selfA, true], ['total', 'total', (r) => r.a], ['totalshare', 'total %', (r) => r.a, true]];
}
function fillTable() {
  if ($('table').hidden) return;
  const columns = columnsOfTable(), by = columns.find((c) => c[0] === state.sort) || columns[0];
  const all = state.tree.a[0] || 1;
  let rows = methods();
  if (matched) rows = rows.filter((r) => matched[r.name]);
  const order = isDiff() && (by[0] === 'self' || by[0] === 'total') ? (r) => Math.abs(by[2](r)) : by[2];
  rows = rows.slice();
  if (state.sort === 'name') rows.sort((x, y) => names[x.name] < names[y.name] ? -1 : 1);
  else rows.sort((x, y) => order(y) - order(x) || y.a + y.b - x.a - x.b || (names[x.name] < names[y.name] ? -1 : 1));
  const heads = $('heads');
  heads.replaceChildren();
  for (const [key, title] of [...columns, ['name', 'method']]) {
    const th = document.createElement('th');
    th.textContent = title + (state.sort === key ? ' ▾' : '');
    th.onclick = () => { state.sort = key; fillTable(); keep(); };
    heads.append(th);
  }
  const body = document.createDocumentFragment();
  const selected = state.selected > 0 ? level(state.tree.name[state.selected]) : -1;
  for (const row of rows.slice(0, 1000)) {
    const tr = document.createElement('tr');
    if (row.name === selected) tr.className = 'on';
    for (const [key, , value, share] of columns) {
      const td = document.createElement('td');
      td.textContent = key === 'what' ? ['', 'gone', 'new'][value(row)] : share ? percent(value(row), all) : amount(value(row), key === 'self' || key === 'total');
      tr.append(td);
    }
    const td = document.createElement('td');
    td.textContent = names[row.name];
    td.title = 'show in the graph; with Shift: its callers';
    td.onclick = (e) => e.shiftKey ? go({ view: 'callers', focus: row.name, zoom: [], grid: false }) : go({ query: names[row.name], grid: state.grid });
    td.tabIndex = 0;
    td.onkeydown = (e) => { if (e.key === 'Enter') td.onclick(e); };
    tr.append(td);
    body.append(tr);
  }
  $('rows').replaceChildren(body);
}

// --- moving about --------------------------------------------------------------------------------------------------

const SHOWN = ['table', 'weight', 'view', 'zoom', 'focus', 'query', 'lines', 'norm', 'grid', 'sort'];
const snapshot = () => Object.fromEntries(SHOWN.map((k) => [k, state[k]]));

// Goes to another picture; what was shown before is one step back.
function go(changes, back) {
  $('tip').hidden = true;
  if (!back) state.past.push(snapshot());
  const was = snapshot();
  Object.assign(state, changes);
  if (changes.table !== undefined && changes.table !== was.table && changes.zoom === undefined) state.zoom = [];
  if (state.view !== was.view && changes.zoom === undefined && (state.view === 'callers' || was.view === 'callers')) state.zoom = [];
  if (state.view !== 'callers') state.focus = -1;
  if (state.lines !== was.lines) { state.zoom = []; state.focus = -1; }
  const rebuilt = ['table', 'weight', 'lines', 'norm', 'focus'].some((k) => state[k] !== was[k]) ||
    (state.view === 'callers') !== (was.view === 'callers');
  if (rebuilt) { build(); choosePackages(); state.selected = 0; }
  refresh();
  if (rebuilt || was.view !== state.view) toRoots();
}
// Draws at once, since how far one can scroll is known only then.
function toRoots() { draw(); $('graph').scrollTop = state.view === 'flame' ? 1e9 : 0; }

function refresh() {
  $('choose').value = state.table;
  $('weight').replaceChildren(...offered().map((w) => new Option(w.title + (w.flags & 16 ? ' (now)' : ''), w.name)));
  $('weight').value = weight().name;
  for (const v of ['flame', 'icicle', 'callers']) $('v-' + v).setAttribute('aria-pressed', state.view === v);
  $('v-table').setAttribute('aria-pressed', state.grid);
  $('table').hidden = !state.grid;
  $('search').value = state.query;
  $('lines').checked = state.lines;
  $('norm').checked = state.norm;
  $('norm-label').hidden = !isDiff();
  $('back').disabled = !state.past.length;
  search();
  legend();
  fillTable();
  keep();
  redraw();
}

function legend() {
  const spans = isDiff() ? [['hsl(8,90%,58%)', 'more than before'], ['hsl(214,90%,58%)', 'less'],
    [`hsl(${NEW},75%,70%)`, 'new'], [`hsl(${GONE},75%,70%)`, 'gone']]
    : [...packages].map(([p, hue]) => [`hsl(${hue},60%,${dark() ? 40 : 72}%)`, p]);
  const made = spans.map(([paint, text]) => {
    const span = document.createElement('span'), box = document.createElement('i');
    box.style.background = paint;
    span.append(box, text);
    return span;
  });
  if (state.focus >= 0) made.unshift(`callers of ${names[state.focus]}  `);
  $('legend').replaceChildren(...made);
}

// The address of the page names the picture.
function keep() {
  const said = new URLSearchParams();
  if (state.table) said.set('t', state.table);
  said.set('w', weight().name);
  said.set('v', state.view);
  if (state.zoom.length) said.set('z', state.zoom.map((n) => names[n]).join(';'));
  if (state.focus >= 0) said.set('f', names[state.focus]);
  if (state.query) said.set('q', state.query);
  if (state.lines) said.set('l', 1);
  if (state.norm) said.set('n', 1);
  if (state.grid) said.set('g', state.sort);
  if (document.documentElement.dataset.theme) said.set('d', document.documentElement.dataset.theme);
  history.replaceState(null, '', '#' + said);
}
function recall() {
  const said = new URLSearchParams(location.hash.slice(1)), known = (n) => numbers.has(n);
  const changes = { view: ['flame', 'icicle', 'callers'].includes(said.get('v')) ? said.get('v') : 'icicle' };
  if (+said.get('t') > 0 && +said.get('t') < state.tables.length) changes.table = +said.get('t');
  changes.weight = said.get('w') || '';
  changes.lines = !!said.get('l');
  changes.norm = !!said.get('n');
  changes.grid = said.has('g');
  changes.sort = said.get('g') || 'self';
  changes.query = said.get('q') || '';
  changes.focus = said.get('f') && known(said.get('f')) ? numbers.get(said.get('f')) : -1;
  const zoom = (said.get('z') || '').split(';').filter((n) => n);
  changes.zoom = zoom.every(known) ? zoom.map((n) => numbers.get(n)) : [];
  if (said.get('d')) document.documentElement.dataset.theme = said.get('d');
  return changes;
}
const back = () => { const was = state.past.pop(); if (was) { const { zoom, focus } = was; go(was, true); state.zoom = zoom; state.focus = focus; refresh(); } };
const zoomTo = (node) => go({ zoom: state.tree.path(node) });

function dialog(fill) {
  $('said').replaceChildren();
  fill($('said'));
  if (!$('dialog').open) $('dialog').showModal();
}
const cutText = (side) => `${side.cut} of ${side.stacks} stacks are cut: depth=512 has them whole`;
function about(box) {
  for (const side of state.sides) {
    const pre = document.createElement('pre');
    const when = (ms) => ms ? new Date(ms).toISOString() : '';
    const lines = [];
    if (side.label) lines.push(side.label);
    for (const [key, value] of Object.entries(side.info)) lines.push(`${key}: ${value}`);
    for (const t of side.tables) if (t.report) lines.push(`${t.title}: report ${t.report.sequence} (${t.report.reason}) ${when(t.report.from)} to ${when(t.report.until)}`);
    if (side.cut) lines.push(cutText(side));
    lines.push(...side.notes);
    pre.textContent = lines.join('\n');
    box.append(pre);
  }
}
const KEYS = [['/', 'search'], ['Enter in the search', 'next match'], ['Enter', 'zoom to the selected frame'], ['arrows', 'select parent, child, neighbour'], ['b', 'back'],
  ['0 or Esc', 'whole profile'], ['f i c', 'flame, icicle, callers'], ['t', 'table of methods'], ['w', 'next weight'],
  ['l', 'lines'], ['n', 'notes'], ['d', 'dark or light'], ['click', 'zoom'], ['double click', 'copy the name'], ['Shift+click', 'callers of a method']];
function keys(box) {
  for (const [key, what] of KEYS) {
    const p = document.createElement('div'), k = document.createElement('kbd');
    k.textContent = key;
    p.append(k, ' ' + what);
    box.append(p);
  }
}

function step(key) {
  const tree = state.tree, at = state.selected, up = tree.parent[at];
  const kids = (n) => tree.children.subarray(tree.first[n], tree.first[n + 1]);
  const inward = state.view === 'flame' ? 'ArrowUp' : 'ArrowDown';
  if (key === inward) return kids(at).length ? kids(at)[0] : at;
  if (key === 'ArrowUp' || key === 'ArrowDown') return up >= 0 ? up : at;
  if (up < 0) return at;
  const around = kids(up), here = around.indexOf(at) + (key === 'ArrowLeft' ? -1 : 1);
  return here >= 0 && here < around.length ? around[here] : at;
}

function listen() {
  const views = { f: 'flame', i: 'icicle', c: 'callers' };
  for (const v of Object.values(views)) $('v-' + v).onclick = () => go({ view: v });
  $('v-table').onclick = () => go({ grid: !state.grid });
  $('choose').onchange = (e) => go({ table: +e.target.value, weight: '' });
  $('weight').onchange = (e) => go({ weight: e.target.value });
  $('lines').onchange = (e) => go({ lines: e.target.checked });
  $('norm').onchange = (e) => go({ norm: e.target.checked });
  $('search').oninput = (e) => { state.query = e.target.value; search(); fillTable(); keep(); redraw(); };
  $('reset').onclick = () => go({ zoom: [], query: '', focus: -1 });
  $('back').onclick = back;
  $('notes').onclick = () => dialog(about);
  $('help').onclick = () => dialog(keys);
  $('theme').onclick = () => { document.documentElement.dataset.theme = dark() ? 'light' : 'dark'; refresh(); };
  $('graph').onscroll = redraw;
  new ResizeObserver(redraw).observe($('graph'));
  $('canvas').onclick = (e) => {
    const node = nodeAt(e);
    if (node < 0) return;
    state.selected = node;
    if (e.shiftKey && node > 0) go({ view: 'callers', focus: level(state.tree.name[node]), zoom: [] }); else zoomTo(node);
  };
  $('canvas').ondblclick = () => { if (state.selected > 0) navigator.clipboard.writeText(names[state.tree.name[state.selected]]); };
  $('canvas').onmousemove = (e) => {
    const node = nodeAt(e), tip = $('tip');
    say(node);
    tip.hidden = node < 0;
    if (node < 0) return;
    const { name, text } = describe(node), b = document.createElement('b');
    b.textContent = name;
    tip.replaceChildren(b, '\n' + text);
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 8 : e.clientY + 18) + 'px';
  };
  $('canvas').onmouseleave = () => { $('tip').hidden = true; say(-1); };
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || $('dialog').open) return;
    if (e.target === $('search')) {
      if (e.key === 'Escape') go({ query: '' });
      if (e.key === 'Escape') $('graph').focus();
      if (e.key === 'Enter') nextHit();
      return;
    }
    if (e.target.tagName === 'SELECT') return;
    const weights = offered();
    if (views[e.key]) go({ view: views[e.key] });
    else if (e.key === '/') $('search').focus();
    else if (e.key === 't') go({ grid: !state.grid });
    else if (e.key === 'w') go({ weight: weights[(weights.indexOf(weight()) + 1) % weights.length].name });
    else if (e.key === 'l') go({ lines: !state.lines });
    else if (e.key === 'n') $('notes').click();
    else if (e.key === 'd') $('theme').click();
    else if (e.key === '?') $('help').click();
    else if (e.key === 'b' || e.key === 'Backspace') back();
    else if (e.key === '0' || e.key === 'Escape') $('reset').click();
    else if (e.key === 'Enter' && !['BUTTON', 'TD'].includes(e.target.tagName)) zoomTo(state.selected);
    else if (e.key.startsWith('Arrow')) { state.selected = step(e.key); say(state.selected); fillTable(); redraw(); }
    else return;
    e.preventDefault();
  });
  addEventListener('hashchange', () => go(recall()));
}

function start() {
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
  state.sides = read($('data').textContent);
  state.sides.forEach((side, s) => side.tables.forEach((table, index) => {
    if (s > 0 && state.tables.some((t) => t.table.name === table.name)) return;
    state.tables.push({ side, table, index });
  }));
  const info = state.sides[0].info;
  $('title').textContent = document.title = isDiff() ? state.sides.map((s) => s.label).join(' → ') : info.title || state.sides[0].label || ['hprof', info.created].filter((t) => t).join(', ');
  const cut = state.sides.find((side) => side.cut);
  $('cut').hidden = !cut;
  if (cut) $('cut').textContent = cutText(cut);
  if (!state.tables.length) {
    $('graph').hidden = true;
    $('problem').hidden = false;
    $('problem').textContent = 'This file has no table with stacks: nothing was recorded, or the file was cut short.';
    $('notes').onclick = () => dialog(about);
    return;
  }
  // Reports of one kind that follow each other are told apart by their number.
  const titles = state.tables.map((t) => t.table.title);
  state.tables.forEach((t, i) => {
    const many = titles.filter((x) => x === t.table.title).length > 1;
    $('choose').append(new Option(t.table.title.toLowerCase() + (many && t.table.report ? ` #${t.table.report.sequence}` : ''), i));
  });
  $('choose').hidden = state.tables.length < 2;
  const seen = recall();
  state.table = seen.table !== undefined ? seen.table : state.tables.length - 1;
  Object.assign(state, seen);
  build();
  choosePackages();
  listen();
  refresh();
  toRoots();
}

// For tests and for who looks from the console.
window.hprof = { state, names, go, back, methods, describe, drawn: () => drawn,
  sumsByMethod: () => Object.fromEntries(methods().map((r) => [names[r.name], r])) };
addEventListener('DOMContentLoaded', start);  // the data stands behind this
})();
