// The call tree: what is drawn below the band.

// In parallel arrays. a: weight of the one profile (or of the first of two), b: of the second. Its shape is made once
// of all stacks; sum() weighs it anew for each stretch of time, filter or weight.
class Tree {
  constructor() {
    this.size = 0;
    this.grow(1024);
    this.slots = new Int32Array(4096).fill(-1);
    this.leaves = [];  // by profile: the nodes where its stacks end, -1: it is not in this tree
    this.add(-1, -1, 0);
  }
  grow(room) {
    const more = (old) => { const made = new Int32Array(room); if (old) made.set(old); return made; };
    this.parent = more(this.parent); this.name = more(this.name); this.depth = more(this.depth);
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
  // Lists the children of each node. No stack comes after this.
  close() {
    const n = this.size;
    this.first = new Int32Array(n + 1);
    for (let i = 1; i < n; i++) this.first[this.parent[i] + 1]++;
    for (let i = 0; i < n; i++) this.first[i + 1] += this.first[i];
    const fill = this.first.slice();
    this.children = new Int32Array(n - 1);
    for (let i = 1; i < n; i++) this.children[fill[this.parent[i]]++] = i;
    for (const kind of ['a', 'b', 'selfA', 'selfB']) this[kind] = new Float64Array(n);
    this.ordered = new Uint8Array(n);  // 1: the children of the node are in order
    this.slots = null;
  }
  // sums: by profile the weights of its stacks.
  sum(sums) {
    const { a, b, selfA, selfB, parent, depth } = this;
    for (const of of [a, b, selfA, selfB]) of.fill(0);
    this.leaves.forEach((leaves, s) => {
      const self = s === 0 ? selfA : selfB, total = s === 0 ? a : b;
      leaves.forEach((node, stack) => { if (node >= 0) { self[node] += sums[s][stack]; total[node] += sums[s][stack]; } });
    });
    this.deepest = 0;
    for (let i = this.size - 1; i > 0; i--) {
      a[parent[i]] += a[i]; b[parent[i]] += b[i];
      if (depth[i] > this.deepest && a[i] + b[i] > 0) this.deepest = depth[i];
    }
    this.ordered.fill(0);
  }
  width(node) { return this.a[node] + this.b[node]; }
  // The children as they are drawn. Only nodes that are wide enough to be seen need an order.
  kids(node) {
    const kids = this.children.subarray(this.first[node], this.first[node + 1]);
    if (!this.ordered[node]) {
      this.ordered[node] = 1;
      const byName = (x, y) => names[this.name[x]] < names[this.name[y]] ? -1 : 1;
      if (kids.length > 1) kids.sort(state.byName ? byName : (x, y) => this.width(y) - this.width(x) || byName(x, y));
    }
    return kids;
  }
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

const level = (name) => state.lines ? name : plain[name];

// Adds stack[from] to stack[to] in either direction, and returns the node of the last one. A call of the method that
// was just added is left out if recursion is collapsed.
function addStack(tree, stack, from, to) {
  const step = from <= to ? 1 : -1;
  let node = 0, last = -1;
  for (let i = from; i !== to + step; i += step) {
    const name = level(stack[i]);
    if (state.collapse && name === last) continue;
    node = tree.child(node, last = name);
  }
  return node;
}

// The shapes of trees: all stacks from the root; all from the innermost frame; and of one method its callers, from its
// innermost call outwards, and its callees, from its outermost call inwards. So recursion counts once.
const SHAPES = {
  roots: (tree, stack) => addStack(tree, stack, 0, stack.length - 1),
  tops: (tree, stack) => addStack(tree, stack, stack.length - 1, 0),
  callers: (tree, stack) => {
    let from = stack.length - 1;
    while (from >= 0 && level(stack[from]) !== state.focus) from--;
    return from < 0 ? -1 : addStack(tree, stack, from, 0);
  },
  callees: (tree, stack) => {
    const from = stack.findIndex((name) => level(name) === state.focus);
    return from < 0 ? -1 : addStack(tree, stack, from, stack.length - 1);
  },
};
function makeTree(shape) {
  const tree = new Tree();
  tree.leaves = state.sides.map((side) => {
    const table = tableOf(side);
    return table ? Int32Array.from(table.stacks, (stack) => SHAPES[shape](tree, stack)) : new Int32Array(0);
  });
  tree.close();
  return tree;
}

// --- which rows count ----------------------------------------------------------------------------------------------

// "http-*, main" as a test of thread names; null: all.
function threadTest(pattern) {
  const parts = pattern.split(',').map((p) => p.trim()).filter((p) => p);
  if (!parts.length) return null;
  const re = new RegExp('^(' + parts.map((p) => p.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*')).join('|') + ')$');
  return (name) => name === pattern || re.test(name);
}

// The weights of a table's stacks, of the rows in the stretch and of the threads that are shown; those of stacks through
// a method that is left out are 0.
function sumRows(table) {
  const sums = new Float64Array(table.stacks.length), values = table.values[weightOf(table)];
  const { stackOf, threadOf, at } = table, [from, until] = at && state.stretch || [-Infinity, Infinity];
  const test = threadTest(state.threads), shown = table.threadNames.map((name) => !test || test(name));
  const counts = table.stacks.map((stack) => !state.without.length || !stack.some((name) => state.without.includes(plain[name])));
  for (let i = 0; i < values.length; i++) {
    if (!shown[threadOf[i]] || !counts[stackOf[i]] || at && (at[i] < from || at[i] >= until)) continue;
    sums[stackOf[i]] += values[i];
  }
  return sums;
}

// Makes the trees that the view needs, if their shape is another one than before, and weighs them.
function build() {
  const shapes = state.focus >= 0 ? ['callers', 'callees'] : state.view === 'callers' ? ['tops'] : ['roots'];
  const shape = [state.table, state.lines, state.collapse, state.focus, ...shapes].join();
  if (state.shape !== shape) {
    state.trees = shapes.map(makeTree);
    state.shape = shape;
  }
  weigh();
}
function weigh() {
  const tables = state.sides.map(tableOf);
  state.sums = tables.map((table) => table ? sumRows(table) : new Float64Array(0));
  state.samples = tables.map((table) => table ? table.weights[weightOf(table)].sample : 0);
  state.total = state.sums.map((sums) => sums.reduce((x, y) => x + y, 0));
  state.scale = state.norm && state.total[0] ? state.total[1] / state.total[0] : 1;
  if (state.scale !== 1) state.sums[0] = state.sums[0].map((w) => w * state.scale);
  state.trees.forEach((tree) => tree.sum(state.sums));
  state.tree = state.trees[0];
  state.methods = null;
}

// Calls each(stack, a, b) for what is shown now; a stack is an array of names, outermost first.
function eachStack(each) {
  state.sums.forEach((sums, s) => {
    const table = tableOf(state.sides[s]);
    sums.forEach((w, i) => { if (w > 0) each(table.stacks[i], s === 0 ? w : 0, s === 0 ? 0 : w); });
  });
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

// True: the difference is less than two standard errors of two sums of samples, one of which stands for `sample`.
function isNoise(a, b) {
  const [before, after] = state.samples;
  return before > 0 && after > 0 && Math.abs(b - a) < 2 * Math.sqrt(a * before * state.scale + b * after);
}
