// The page that draws a profile: flame graph, callers and callees, table of methods, differences of two profiles. The
// data is read by data.js, the trees are those of tree.js, the time axis is in band.js, the address in address.js, the
// colours and the legend are in colours.js.

// --- what is shown -------------------------------------------------------------------------------------------------

const state = { sides: [], tables: [], table: 0, weight: '', view: 'icicle', zoom: [], skip: 0, focus: -1, query: '', lines: false,
  collapse: false, byName: false, threads: '', stretch: null, without: [], norm: false, grid: false, sort: 'self', widths: {},
  trees: [], tree: null, shape: '', sums: [], total: [], scale: 1, samples: [], selected: 0, in: 0, past: [], painted: 0, cutting: 0 };
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

// change: with its sign.
function amount(value, change) {
  const { type } = weight(), sign = value < 0 ? '-' : change && isDiff() && value > 0 ? '+' : '';
  const v = Math.abs(value);
  const pick = (steps) => { for (const [least, name] of steps) if (v >= least) return sign + (v / least).toFixed(v / least < 10 ? 2 : 1) + ' ' + name; return sign + Math.round(v) + ' ' + steps[steps.length - 1][1]; };
  if (type === NANOSECONDS) return pick([[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);
  if (type === BYTES) return pick([[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]);
  return type === REAL ? sign + v.toPrecision(4) : sign + Math.round(v).toLocaleString('en');
}
// The same with the unit of counts: "20 samples".
function quantity(value, change) {
  const { unit } = weight();
  return amount(value, change) + (unit ? ' ' + unit : '');
}
const percent = (part, whole) => whole ? (100 * part / whole).toFixed(2) + '%' : '-';

// An element, of what is in it.
function element(tag, ...inside) {
  const made = document.createElement(tag);
  made.append(...inside);
  return made;
}

const zoomed = () => state.focus < 0 && state.zoom.length ? state.tree.find(state.zoom) : 0;

// --- drawing -------------------------------------------------------------------------------------------------------

const ROW = 17;
let drawn = [];  // rows of what is on the canvas, for the mouse: {x, w, top, tree, node, merged}
let matched = null;  // by name: 1 matches the search
let hits = [];  // nodes that match, outermost only, from left to right
const SLIVER = 3;  // px
const context = $('canvas').getContext('2d');
let pending = 0;
const redraw = () => { if (!pending) pending = requestAnimationFrame(() => { pending = 0; draw(); }); };

// Where the rows are. Of a method, its callers are above it and its callees below.
function rowsOf(height) {
  const [above, below] = state.trees, focused = state.focus >= 0;
  const rows = focused ? above.deepest + Math.max(1, below.deepest) : above.deepest + 1;
  const full = Math.max(rows * ROW + 4, height), up = (row) => full - (row + 1) * ROW - 2, down = (row) => row * ROW + 2;
  const y = !focused ? (tree, depth) => state.view === 'flame' ? up(depth) : down(depth)
    : (tree, depth) => down(tree === above ? above.deepest - depth : above.deepest + depth - 2);
  return { full, y };
}

function draw() {
  if (!state.tree) return;
  const box = $('graph'), width = box.clientWidth, height = box.clientHeight, { full, y } = rowsOf(height);
  $('room').style.height = Math.max(0, full - height) + 'px';
  const canvas = $('canvas'), ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--bg');
  context.fillRect(0, 0, width, height);
  context.font = '12px ui-monospace, monospace';
  context.textBaseline = 'middle';
  drawn = [];
  const scroll = box.scrollTop, paint = painter(height);
  state.trees.forEach((tree) => drawTree(tree, width, (node, x, w, above, merged) => paint(tree, node, x, w, y(tree, tree.depth[node] + !!merged) - scroll, above, merged)));
  if (!state.painted) state.painted = performance.now() - began;
}

// Calls paint(node, x, w, above, merged) for each node that is wide enough; above: it encloses what the view is zoomed to.
// Callers have many small children: those become one box, of which merged has the weight, the number, and that of the others,
// and node is the parent. A click on it skips the others.
function drawTree(tree, width, paint) {
  const focused = state.focus >= 0, merges = !matched && !state.byName && tree === state.trees[0] && (focused || state.view === 'callers'), zoom = focused ? 0 : zoomed(), shown = merges ? state.skip : 0;
  const all = shown ? tree.kids(zoom).subarray(shown).reduce((sum, kid) => sum + tree.width(kid), 0) : tree.width(zoom), scale = all > 0 ? width / all : 0;
  const last = new Float64Array(tree.deepest + 2).fill(-1);
  for (let node = tree.parent[zoom]; node >= 0; node = tree.parent[node]) paint(node, 0, width, true);
  const open = [zoom], places = [0];  // nodes to draw, and their x
  while (open.length) {
    const node = open.pop(), x = places.pop(), w = node === zoom ? width : tree.width(node) * scale, depth = tree.depth[node];
    if (w < 0.4 && x - last[depth] < 0.5) continue;  // another one stands on this spot already
    last[depth] = x;
    if (node > 0 || !focused) paint(node, x, w, shown && node === zoom);
    if (w < 0.4) continue;
    // The leftmost child is taken next, so it is pushed last.
    const from = open.length, kids = tree.kids(node).subarray(node === zoom ? shown : 0).filter((kid) => tree.width(kid) > 0);
    const wide = merges ? kids.findIndex((kid) => tree.width(kid) * scale < SLIVER) : -1, merged = wide >= 0 ? kids.subarray(wide) : [];
    let left = x;
    for (const kid of merged.length > 1 ? kids.subarray(0, wide) : kids) {
      open.push(kid); places.push(left);
      left += tree.width(kid) * scale;
    }
    const sum = merged.length > 1 ? merged.reduce((all, kid) => all + tree.width(kid), 0) : 0;
    if (sum * scale >= 0.4) paint(node, left, sum * scale, false, { sum, count: merged.length, others: wide });
    reverse(open, from); reverse(places, from);
  }
}
function reverse(list, from) {
  for (let to = list.length - 1; from < to; from++, to--) [list[from], list[to]] = [list[to], list[from]];
}

// Returns what paints a node: its box, and as much of its name as fits.
function painter(height) {
  const style = getComputedStyle(document.documentElement), ink = dark() ? '#f2f3f5' : '#15171a';
  const hit = style.getPropertyValue('--hit'), mark = style.getPropertyValue('--sel'), letter = context.measureText('m').width;
  return (tree, node, x, w, top, above, merged) => {
    if (top < -ROW || top > height) return;
    const name = tree.name[node], isHit = node > 0 && matched && matched[name], dim = matched && !isHit;
    drawn.push({ x, w, top, tree, node, merged });
    context.globalAlpha = dim ? 0.35 : above ? 0.55 : 1;
    context.fillStyle = node === 0 || merged ? (dark() ? '#4a4f55' : '#cfd3d8') : isHit ? hit : colour(tree, node);
    context.fillRect(x, top, Math.max(w - (w > 2 ? 0.6 : 0), 0.5), ROW - 1);
    if (tree === state.trees[state.in] && node === state.selected && node > 0 && !merged) { context.strokeStyle = mark; context.lineWidth = 2; context.strokeRect(x + 1, top + 1, Math.max(1, w - 2), ROW - 3); }
    const letters = Math.floor((w - 6) / letter);
    if (letters >= 3) {
      const text = merged ? cutRight(`${merged.count} others`, letters) : node === 0 ? cutRight('all: ' + quantity(tree.width(0)), letters) : shorten(names[name], letters);
      if (dim) context.globalAlpha = 0.6;
      context.fillStyle = isHit ? '#15171a' : ink;
      context.fillText(text, x + 3, top + ROW / 2, w - 4);
    }
    context.globalAlpha = 1;
  };
}

const cutRight = (text, letters) => text.length > letters ? text.slice(0, letters - 1) + '…' : text;
// Fits a name into so many letters: packages go first, then the class from its left, the id of an object; the name of the
// method stays whole as long as it fits.
function shorten(text, letters) {
  const object = OBJECT.exec(text);
  if (object) {
    const [, kind = '', full, id] = object, simple = full.slice(full.lastIndexOf('.') + 1);
    return [text, kind + simple + id, kind + simple].find((t) => t.length <= letters) || cutRight(simple, letters);
  }
  const dot = ownerEnd(text), method = text.slice(dot + 1);
  // What begins behind a dot or a dollar; a library is one word with its version.
  for (const { index, 0: { length } } of text.slice(0, Math.max(0, dot)).matchAll(/^|[.$](?!so\b|\d)/g)) if (text.length - index - length <= letters) return text.slice(index + length);
  const rest = text.slice(Math.max(0, dot - (letters - method.length - 2)), dot), word = Math.max(0, rest.search(/[A-Z]/));
  return rest.length - word > 3 && /[A-Z]/.test(text[text.lastIndexOf('.', dot - 1) + 1]) ? `…${rest.slice(word)}.${method}` : cutRight(method, letters);
}

function nodeAt(event) {
  const box = $('canvas').getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  for (let i = drawn.length - 1; i >= 0; i--) {
    const d = drawn[i];
    if (y >= d.top && y < d.top + ROW && x >= d.x && x < d.x + Math.max(d.w, 1)) return d;
  }
  return null;
}

// What is shown in all, of both profiles.
const totals = () => [state.total[0] * state.scale, state.total[1] || 0];
function describe(node, tree = state.tree) {
  const w = tree.width(node), whole = totals(), all = whole[0] + whole[1], up = node > 0 ? tree.width(tree.parent[node]) : all;
  const name = node === 0 ? 'all' : names[tree.name[node]];
  if (isDiff()) return { name, text: describeChange(tree.a[node], tree.b[node], whole) };
  const self = tree.selfA[node];
  return { name, text: `total ${quantity(w)}` + (node > 0 ? `, ${percent(w, all)} of all, ${percent(w, up)} of parent; self ${quantity(self)}, ${percent(self, all)}` : '') };
}
function describeChange(a, b, whole) {
  return `before ${quantity(a)} (${percent(a, whole[0])}), after ${quantity(b)} (${percent(b, whole[1])}): ` +
    (a === 0 ? 'new' : b === 0 ? 'gone' : `${amount(b - a, true)} (${percent(b - a, a)})`) +
    (isNoise(a, b) ? '; noise: less than 2 standard errors' : '');
}

// Of what is on the canvas.
function describeDrawn({ node, tree, merged }) {
  if (!merged) return describe(node, tree);
  const whole = totals();
  return { name: `${merged.count} others`, text: `total ${quantity(merged.sum)}, ${percent(merged.sum, whole[0] + whole[1])} of all` };
}

const say = ({ name, text }) => { $('status').textContent = `${name}: ${text}`; };
// What the status line says while the mouse is elsewhere: of the selected frame, or of what is shown.
const settle = () => say(state.selected > 0 ? describe(state.selected, state.trees[state.in]) : describe(zoomed()));

// Shows the tooltip beside the mouse; without a name it goes.
function showTip(e, name, text) {
  const tip = $('tip');
  tip.hidden = !name;
  if (!name) return;
  tip.replaceChildren(element('b', name), '\n' + text.replaceAll('; ', '\n'));
  tip.style.left = Math.max(0, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
  tip.style.top = (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 8 : e.clientY + 18) + 'px';
}

// --- search --------------------------------------------------------------------------------------------------------

function search() {
  const query = state.query.trim();
  matched = null;
  hits = [];
  $('share').textContent = '';
  $('hits').replaceChildren();
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
  names.forEach((n, i) => { if (test(n)) matched[i] = 1; });
  // A subtree counts once, however often it matches further in.
  const tree = state.tree, open = [zoomed()];
  let sum = 0;
  while (open.length) {
    const node = open.pop();
    if (node > 0 && matched[tree.name[node]]) { sum += tree.width(node); hits.push(node); continue; }
    for (const kid of tree.kids(node).slice().reverse()) if (tree.width(kid) > 0) open.push(kid);
  }
  const found = methods().filter((row) => matched[row.name]).sort((x, y) => y.a + y.b - x.a - x.b), whole = totals();
  $('share').textContent = found.length ? `${found.length} method${found.length > 1 ? 's' : ''}, ${percent(sum, tree.width(zoomed()))} matched` : 'no match';
  $('hits').append(...found.slice(0, LISTED).map((row) => {
    const share = isDiff() ? amount(row.b - row.a, true) : percent(row.a, whole[0]);
    const button = element('button', share.padStart(7) + '  ' + shorten(names[row.name], Math.round(innerWidth / 9)));
    button.onclick = () => showMethod(row.name);
    return button;
  }), found.length > LISTED ? `and ${found.length - LISTED} more: the table has all` : '');
}
const LISTED = 50;

// Selects the next frame that matches.
function nextHit() {
  if (!hits.length) return;
  const at = (hits.indexOf(state.selected) + 1) % hits.length;
  showNode(hits[at]);
  $('share').textContent = `${at + 1} of ${hits.length}`;
}
function showNode(node) {
  state.selected = node;
  state.in = 0;
  settle();
  scrollTo(state.tree, state.tree.depth[node]);
}
// Selects the widest frame of a method in the first tree.
function showMethod(name) {
  if (state.zoom.length) go({ zoom: [] });
  const { tree } = state;
  let best = 0;
  for (let node = 1; node < tree.size; node++) if (tree.name[node] === name && (!best || tree.width(node) > tree.width(best))) best = node;
  showNode(best);
}

// Brings a row to the middle.
function scrollTo(tree, depth) {
  const box = $('graph');
  box.scrollTop = rowsOf(box.clientHeight).y(tree, depth) - box.clientHeight / 2;
  redraw();
}

// --- table of methods ----------------------------------------------------------------------------------------------

// An edge that is dragged to make a box wider: to the right (1) or to the left (-1).
function grip(box, way, apply) {
  const edge = element('i');
  edge.className = 'grip';
  edge.onclick = (e) => e.stopPropagation();
  edge.onpointerdown = (e) => {
    const from = e.clientX, width = box.offsetWidth;
    edge.setPointerCapture(e.pointerId);
    edge.onpointermove = (to) => apply(Math.max(30, width + way * (to.clientX - from)) + 'px');
    e.preventDefault();
  };
  edge.onlostpointercapture = () => { edge.onpointermove = null; };
  return edge;
}
// [key, title, value, how it is shown]
function columnsOfTable() {
  const [before, after] = totals(), change = (v) => amount(v, true), share = (whole) => (v) => percent(v, whole);
  return isDiff()
    ? [['self', 'self change', (r) => r.selfB - r.selfA, change], ['total', 'total change', (r) => r.b - r.a, change],
      ['before', 'total before', (r) => r.a, amount], ['beforeshare', 'before %', (r) => r.a, share(before)],
      ['after', 'total after', (r) => r.b, amount], ['aftershare', 'after %', (r) => r.b, share(after)],
      ['what', 'new, gone', (r) => isNoise(r.a, r.b) ? 0 : r.a === 0 ? 2 : r.b === 0 ? 1 : 0, (v) => ['', 'gone', 'new'][v]]]
    : [['self', 'self', (r) => r.selfA, amount], ['share', 'self %', (r) => r.selfA, share(before)],
      ['total', 'total', (r) => r.a, amount], ['totalshare', 'total %', (r) => r.a, share(before)]];
}
function fillTable() {
  if ($('table').hidden) return;
  const columns = columnsOfTable(), by = columns.find((c) => c[0] === state.sort) || columns[0];
  let rows = methods();
  if (matched) rows = rows.filter((r) => matched[r.name]);
  const order = isDiff() && (by[0] === 'self' || by[0] === 'total') ? (r) => Math.abs(by[2](r)) : by[2];
  rows = rows.slice();
  if (state.sort === 'name') rows.sort((x, y) => names[x.name] < names[y.name] ? -1 : 1);
  else rows.sort((x, y) => order(y) - order(x) || y.a + y.b - x.a - x.b || (names[x.name] < names[y.name] ? -1 : 1));
  const heads = $('heads');
  heads.replaceChildren();
  for (const [key, title] of [...columns, ['name', 'method']]) {
    const th = element('th', title.replace(' %', '\u00a0%') + (state.sort === key ? '\u00a0▾' : ''));
    th.onclick = () => { state.sort = key; fillTable(); keep(); };
    th.style.minWidth = state.widths[key];
    th.append(grip(th, 1, (width) => { th.style.minWidth = state.widths[key] = width; }));
    heads.append(th);
  }
  const body = document.createDocumentFragment();
  const selected = state.selected > 0 ? level(selectedName()) : -1;
  for (const row of rows.slice(0, 1000)) {
    const tr = element('tr', ...columns.map(([, , value, text]) => element('td', text(value(row)))));
    if (row.name === selected) tr.className = 'on';
    if (isDiff() && isNoise(row.a, row.b)) tr.classList.add('noise');
    const td = element('td', element('bdi', names[row.name]));
    td.title = 'click: show in the graph; Shift+click: its callers and callees; double click: copy the name';
    td.onclick = (e) => e.shiftKey ? go({ focus: row.name, grid: false }) : go({ query: names[row.name], grid: state.grid });
    td.ondblclick = () => copy(names[row.name]);
    td.tabIndex = 0;
    td.onkeydown = (e) => { if (e.key === 'Enter') td.onclick(e); };
    tr.append(td);
    body.append(tr);
  }
  $('rows').replaceChildren(body);
}

// --- moving about --------------------------------------------------------------------------------------------------

const SHOWN = ['table', 'weight', 'view', 'zoom', 'skip', 'focus', 'query', 'lines', 'collapse', 'byName', 'threads', 'stretch', 'without', 'norm', 'grid', 'sort'];
const snapshot = () => Object.fromEntries(SHOWN.map((k) => [k, state[k]]));

// Goes to another picture; what was shown before is one step back.
function go(changes, back) {
  $('tip').hidden = true;
  if (!back) state.past.push(snapshot());
  const was = snapshot();
  Object.assign(state, changes);
  const changed = (...keys) => keys.some((k) => state[k] !== was[k]);
  if (changes.focus === undefined && changed('view', 'lines', 'collapse')) state.focus = -1;
  if (changes.zoom === undefined && (changed('table', 'lines', 'collapse') || changed('view') && [state.view, was.view].includes('callers'))) state.zoom = [];
  if (changed('table') && changes.stretch === undefined) state.stretch = null;
  state.skip = changes.skip || 0;
  build();
  const reshaped = changed('table', 'lines', 'collapse', 'focus') || changed('view');
  if (changes.zoom) { state.selected = zoomed(); state.in = 0; }
  if (reshaped) state.selected = state.in = state.focus >= 0 ? 1 : 0;  // the method itself, in the tree of its callees
  refresh();
  if (reshaped) toRoots();
}
// Draws at once, since how far one can scroll is known only then.
function toRoots() {
  draw();
  if (state.focus >= 0) scrollTo(state.trees[0], 1);
  else $('graph').scrollTop = state.view === 'flame' ? 1e9 : 0;
}

function refresh() {
  const head = isDiff() ? '' : headOf(state.sides[0], state.tables[state.table].table);
  $('about').hidden = !head;
  $('about').textContent = head;
  $('choose').value = state.table;
  $('weight').replaceChildren(...offered().map((w) => new Option(w.title + (w.flags & 16 ? ' (now)' : ''), w.name)));
  $('weight').value = weight().name;
  for (const v of ['flame', 'icicle', 'callers']) $('v-' + v).setAttribute('aria-pressed', state.view === v && state.focus < 0);
  $('v-table').setAttribute('aria-pressed', state.grid);
  $('table').hidden = !state.grid;
  $('search').value = state.query;
  for (const box of BOXES) $(box).checked = state[box];
  $('norm-label').hidden = !isDiff();
  $('back').disabled = !state.past.length;
  refreshBand();
  search();
  legend();
  settle();
  fillTable();
  if (band.pressed === null) keep();  // browsers limit how often the address may change
  redraw();
}
const BOXES = ['lines', 'collapse', 'byName', 'norm'];

const back = () => { const was = state.past.pop(); if (was) go(was, true); };
const zoomTo = (node) => go({ zoom: state.tree.path(node) });

function dialog(fill) {
  $('said').replaceChildren();
  fill($('said'));
  if (!$('dialog').open) $('dialog').showModal();
}
const cutText = (side) => `${side.cut} of ${side.stacks} stacks are cut: depth=512 has them whole`;
function about(box) {
  for (const side of state.sides) {
    const when = (ms) => ms ? new Date(ms).toISOString() : '';
    const lines = [];
    if (isDiff()) lines.push(`${weight().title}: ${quantity(state.total[state.sides.indexOf(side)])}`);
    if (side.label) lines.push(side.label);
    for (const [key, value] of Object.entries(side.info)) lines.push(`${key}: ${value}`);
    for (const t of side.tables) if (t.report) lines.push(`${t.title}: report ${t.report.sequence} (${t.report.reason}) ${when(t.report.from)} to ${when(t.report.until)}`);
    if (side.cut) lines.push(cutText(side));
    lines.push(...side.notes);
    box.append(element('pre', lines.join('\n')));
  }
}
const KEYS = [['/', 'search'], ['Enter in the search', 'next match'], ['Enter', 'zoom to the selected frame'], ['arrows', 'select parent, child, neighbour'], ['b', 'back'],
  ['0 or Esc', 'whole profile'], ['f i c', 'flame, icicle, callers'], ['t', 'table of methods'], ['w', 'next weight'],
  ['l', 'lines'], ['r', 'recursive calls as one frame'], ['o', 'order by name'], ['u', 'threads: main, pool-*'], ['s', 'callers and callees of the selected method'],
  ['x', 'leave out all stacks through the selected method'],
  ['n', 'notes'], ['d', 'dark or light'], ['click', 'zoom'], ['double click', 'copy the name'], ['Shift+click', 'callers and callees of a method'],
  ['drag in the band', 'show that stretch of time'], ['arrows in the band', 'move the stretch, with Shift its end']];
function keys(box) {
  for (const [key, what] of KEYS) box.append(element('div', element('kbd', key), ' ' + what));
}

// Selects a neighbour of the selected frame. Callers of a method are above it, its callees below.
function step(key) {
  const focused = state.focus >= 0;
  if (focused && state.selected <= 1 && (key === 'ArrowUp' || key === 'ArrowDown')) {
    state.in = key === 'ArrowUp' ? 0 : 1;
    state.selected = 1;
  }
  const tree = state.trees[state.in], at = state.selected, up = tree.parent[at];
  const kids = (n) => tree.kids(n).filter((kid) => tree.width(kid) > 0);
  const inward = (focused ? state.in === 0 : state.view === 'flame') ? 'ArrowUp' : 'ArrowDown';
  if (key === inward) return kids(at).length ? kids(at)[0] : at;
  if (key === 'ArrowUp' || key === 'ArrowDown') return up >= 0 && !(focused && up === 0) ? up : at;
  if (up < 0) return at;
  const around = kids(up), here = around.indexOf(at) + (key === 'ArrowLeft' ? -1 : 1);
  return here >= 0 && here < around.length ? around[here] : at;
}

const selectedName = () => state.trees[state.in].name[state.selected];
// Enter or a click on a frame: its subtree fills the width; of callers and callees it becomes the method in the middle.
function open(node, tree) {
  if (state.focus < 0) go({ zoom: tree.path(node) });
  else if (node > 0) go({ focus: level(tree.name[node]) });
}
// What is zoomed to, or in the middle, would be empty without its own stacks.
function leaveOut(name) {
  const stays = (n) => plain[n] !== name;
  state.selected = 0;
  go({ without: [...state.without, name], zoom: state.zoom.every(stays) ? state.zoom : [], focus: state.focus >= 0 && stays(state.focus) ? state.focus : -1 });
}
function copy(text) {
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { $('status').textContent = 'copied: ' + text; });
}

function listen() {
  const views = { f: 'flame', i: 'icicle', c: 'callers' };
  for (const v of Object.values(views)) $('v-' + v).onclick = () => go({ view: v });
  $('v-table').onclick = () => go({ grid: !state.grid });
  $('choose').onchange = (e) => go({ table: +e.target.value, weight: '' });
  $('weight').onchange = (e) => go({ weight: e.target.value });
  for (const box of BOXES) $(box).onchange = (e) => go({ [box]: e.target.checked });
  $('search').oninput = (e) => { state.query = e.target.value; search(); legend(); settle(); fillTable(); keep(); redraw(); };
  $('hits').onmousedown = (e) => e.preventDefault();  // the list stays while the search has the focus
  $('more').onclick = () => document.querySelector('header').classList.toggle('open');
  $('reset').onclick = () => go({ zoom: [], query: '', focus: -1, threads: '', stretch: null, without: [] });
  $('back').onclick = back;
  $('notes').onclick = () => dialog(about);
  $('help').onclick = () => dialog(keys);
  $('theme').onclick = () => { document.documentElement.dataset.theme = dark() ? 'light' : 'dark'; refresh(); };
  $('graph').onscroll = () => { showTip(null); redraw(); };
  new ResizeObserver(redraw).observe($('graph'));
  let touch = false, tapped = '';  // a finger shows first what it opens when it taps again
  const look = (e) => {
    const seen = nodeAt(e);
    if (!seen) { showTip(null); settle(); return; }
    const told = describeDrawn(seen);
    say(told);
    showTip(e, told.name, told.text + (touch ? '; tap again to open it' : ''));
  };
  $('canvas').onpointerdown = (e) => { touch = e.pointerType === 'touch'; };
  $('canvas').onclick = (e) => {
    const seen = nodeAt(e);
    if (!seen || !touch && e.detail > 1) return;  // the second click of a double click
    const { node, tree, merged } = seen, key = [state.shape, state.zoom, state.trees.indexOf(tree), node, !!merged].join();
    if (!merged) { state.selected = node; state.in = state.trees.indexOf(tree); }
    if (touch && tapped !== key) { tapped = key; look(e); redraw(); return; }
    tapped = '';
    if (merged && state.focus >= 0) go({ grid: true });
    else if (merged) go({ zoom: tree.path(node), skip: merged.others + (node === zoomed() ? state.skip : 0) });
    else if (e.shiftKey && node > 0) go({ focus: level(tree.name[node]) });
    else open(node, tree);
  };
  $('canvas').ondblclick = () => { if (!touch && state.selected > 0) copy(names[selectedName()]); };
  $('canvas').onmousemove = look;
  $('canvas').onmouseleave = () => { showTip(null); settle(); };
  listenToBand();
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || $('dialog').open) return;
    if (e.target === $('search')) {
      if (e.key === 'Escape') go({ query: '' });
      if (e.key === 'Escape') $('graph').focus();
      if (e.key === 'Enter') nextHit();
      return;
    }
    if (e.target.tagName === 'SELECT' || e.target === $('threads')) return;
    const weights = offered();
    if (views[e.key]) go({ view: views[e.key] });
    else if (e.key === '/') $('search').focus();
    else if (e.key === 't') go({ grid: !state.grid });
    else if (e.key === 'w') go({ weight: weights[(weights.indexOf(weight()) + 1) % weights.length].name });
    else if (e.key === 'l') go({ lines: !state.lines });
    else if (e.key === 'r') go({ collapse: !state.collapse });
    else if (e.key === 'o') go({ byName: !state.byName });
    else if (e.key === 'u' && !$('threads').hidden) $('threads').focus();
    else if (e.key === 's' && state.selected > 0) go({ focus: level(selectedName()) });
    else if (e.key === 'x' && state.selected > 0) leaveOut(plain[selectedName()]);
    else if (e.key === 'n') $('notes').click();
    else if (e.key === 'd') $('theme').click();
    else if (e.key === '?') $('help').click();
    else if (e.key === 'b' || e.key === 'Backspace') back();
    else if (e.key === '0' || e.key === 'Escape') $('reset').click();
    else if (e.key === 'Enter' && !['BUTTON', 'TD'].includes(e.target.tagName)) open(state.selected, state.trees[state.in]);
    else if (e.key.startsWith('Arrow')) { state.selected = step(e.key); settle(); fillTable(); redraw(); }
    else return;
    e.preventDefault();
  });
  addEventListener('hashchange', () => go(recall()));
  // Paper is white.
  const theme = (name) => { const was = document.documentElement.dataset.theme || ''; document.documentElement.dataset.theme = name; legend(); draw(); return was; };
  addEventListener('beforeprint', () => { state.theme = theme('light'); });
  addEventListener('afterprint', () => { theme(state.theme); });
}

// "program Shop, process 4711 on host, ...": what ran and how.
const sessionOf = ({ info, notes }) => info.session || notes.find((n) => n.startsWith('program ')) || '';
// Program, process, date and duration.
function titleOf(side) {
  const { info, reports } = side, [, said, pid] = /^program ([^,;]+)(?:, process (\d+))?/.exec(sessionOf(side)) || [];
  const program = (reports.find((r) => r.program) || {}).program || said, process = info.pid || pid;
  const from = Math.min(...reports.map((r) => r.from || Infinity)), until = Math.max(...reports.map((r) => r.until || 0));
  const seconds = until > from ? (until - from) / 1000 : +info.duration || 0;
  const long = seconds ? `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s` : '';
  return [program || info.title || side.label || 'hprof', process && `process ${process}`, info.created, long].filter((t) => t).join(', ');
}

// What ran and how, and what 100 % of the table is.
function headOf(side, table) {
  const { process } = table;
  const seconds = (s) => s.toFixed(process.seconds < 10 ? 2 : 1);
  const used = process && `100 % is the CPU time of the process, ${seconds(process.seconds)} s: ${process.parts.map(([name, s]) => `${name} ${seconds(s)}`).join(', ')}`;
  return [sessionOf(side).split('; options')[0], used].filter((t) => t).join('. ');
}

// What `hprof view` was told to show first.
function startOf(info) {
  const from = timeOf(info.from), until = timeOf(info.to);
  return { threads: info.threads || '', stretch: from || until ? [from || 0, until || Infinity] : null };
}

function start() {
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
  state.sides = read($('data').textContent);
  state.sides.forEach((side, s) => side.tables.forEach((table, index) => {
    if (s > 0 && state.tables.some((t) => t.table.name === table.name)) return;
    state.tables.push({ side, table, index });
  }));
  $('title').textContent = document.title = isDiff() ? state.sides.map((s) => s.label).join(' → ') : titleOf(state.sides[0]);
  const cut = state.sides.find((side) => side.cut);
  $('cut').hidden = !cut;
  if (cut) $('cut').textContent = cutText(cut);
  if (!state.tables.length) {
    const answer = $('answer');  // tables without stacks
    if (answer) answer.style.maxHeight = 'none';
    $('graph').hidden = true;
    $('problem').hidden = !!answer;
    $('problem').textContent = 'This file has no table with stacks: nothing was recorded, or the file was cut short.';
    $('notes').onclick = () => dialog(about);
    return;
  }
  // Reports of one kind that follow each other are told apart by their number; behind windows comes their sum.
  const titles = state.tables.map((t) => t.table.title);
  state.tables.forEach((t, i) => {
    const many = titles.filter((x) => x === t.table.title).length > 1;
    const which = t.table.windows ? `, ${t.table.windows} windows` : many && t.table.report ? ` #${t.table.report.sequence}` : '';
    $('choose').append(new Option(t.table.title.toLowerCase() + which, i));
  });
  $('choose').hidden = state.tables.length < 2;
  const seen = recall();
  // Of events those of the table that has most, else the last report of the first collector's table, or the sum of its windows.
  const rows = state.tables.map((t) => t.table.events ? t.table.stackOf.length : 0), most = Math.max(...rows);
  state.table = most > 0 ? rows.indexOf(most)
    : Math.max(...state.tables.map((t, i) => t.table.name === state.tables[0].table.name ? i : 0));
  Object.assign(state, seen, location.hash ? {} : startOf(state.sides[0].info));
  build();
  $('main').className = isDiff() ? 'diff' : '';
  $('split').replaceWith(grip($('table'), -1, (width) => { $('table').style.width = width; }));
  listen();
  refresh();
  toRoots();
}

// For tests and for who looks from the console.
window.hprof = { state, band, names, go, back, methods, describe, colour: (name) => tone(colouring(number(name))), cutTo, shorten, drawn: () => drawn,
  sumsByMethod: () => Object.fromEntries(methods().map((r) => [names[r.name], r])) };
addEventListener('DOMContentLoaded', start);  // the data stands behind this
