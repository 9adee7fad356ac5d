// The colours of the boxes, and the legend.

const NEW = 38, GONE = 265;
// [hue, saturation, legend] of each kind of code. Other packages have one of HUES by a hash of their name, so that a name has
// the same colour in each page.
const KINDS = { java: [207, 72, 'java'], jdk: [232, 38, 'JDK-internal'], native: [28, 10, 'native or no class'], vm: [282, 38, 'JIT, GC, VM'] };
const HUES = [8, 34, 54, 80, 112, 150, 176, 335];
// A frame is a method, class.method(place), a class, or an object of a heap dump, [class ]class @ id.
const OBJECT = /^(class )?(\S+)( @ 0x[0-9a-f]+)$/;
// Where the class of a method ends; -1: it has none.
const ownerEnd = (text) => { const paren = text.indexOf('('); return (paren > 0 ? text.slice(0, paren) : text).lastIndexOf('.'); };
function hash(text) {
  let h = 66283;  // a start that keeps packages of one program apart
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h ^ h >>> 15) >>> 0;
}
function kindOf(text, owner) {
  // Threads of the VM have names of words: "C2 compiler", "profiler".
  if (/^(JVM|STATE|libjvm\.so)\.|^[^.:(]+ [^.:(]+$|^profiler$/.test(text)) return 'vm';
  if (/^javax?\.|^(boolean|byte|char|short|int|long|float|double)\[/.test(text)) return 'java';
  if (/^(jdk|sun|com\.sun(?!\.tools))\./.test(text)) return 'jdk';
  return !owner || /^\[|\.so\b|::/.test(text) ? 'native' : '';
}
const coloured = [];  // by name: { key, hue, saturation, pack, shade }; key: the kind, or the hue
function colouring(name) {
  if (coloured[name]) return coloured[name];
  const text = names[plain[name]], object = OBJECT.exec(text);
  const owner = object ? object[2] : types.has(plain[name]) ? text : text.slice(0, Math.max(0, ownerEnd(text)));
  const kind = kindOf(object ? owner : text, owner), path = owner.replace(/[./+]0x[0-9a-f]+$/, '');
  const pack = path.slice(0, Math.max(0, path.lastIndexOf('.'))), [hue, saturation] = KINDS[kind] || [HUES[hash(pack) % HUES.length], 68];
  return coloured[name] = { key: kind || hue, hue, saturation, pack: pack || '(no package)', shade: hash(text) % 9 };
}
const dark = () => document.documentElement.dataset.theme === 'dark';
const tone = ({ hue, saturation, shade = 4 }) => `hsl(${hue},${Math.round(dark() ? saturation * 0.66 : saturation)}%,${(dark() ? 31 : 72) + shade}%)`;
function colour(tree, node) {
  if (!isDiff()) return tone(colouring(tree.name[node]));
  const a = tree.a[node], b = tree.b[node], d = (b - a) / (a + b);
  if (isNoise(a, b)) return `hsl(0,0%,${dark() ? 36 : 84}%)`;
  if (a === 0 || b === 0) return `hsl(${a === 0 ? NEW : GONE},${dark() ? 60 : 75}%,${dark() ? 38 : 70}%)`;
  const l = dark() ? 34 + 6 * Math.abs(d) : 88 - 30 * Math.abs(d);
  return `hsl(${d >= 0 ? 8 : 214},${Math.round(90 * Math.min(1, Math.abs(d) * 1.6))}%,${l}%)`;
}
// "com.acme." of com.acme.web and com.acme.db, "" of those that have nothing in common.
function sharedBeginning(packs) {
  let shared = packs[0] + '.';
  for (const pack of packs) while (!(pack + '.').startsWith(shared)) shared = shared.slice(0, shared.lastIndexOf('.', shared.length - 2) + 1);
  return shared;
}
// [how it is painted, legend, all of it] of each colour that occurs. Packages are named below what they have in common.
function colours() {
  const found = new Map(), sums = new Float64Array(names.length).fill(-1);
  for (const tree of state.trees) {
    for (let node = 1; node < tree.size; node++) if (tree.width(node) > 0) sums[tree.name[node]] = Math.max(0, sums[tree.name[node]]) + tree.selfA[node];
  }
  sums.forEach((sum, name) => {
    if (sum < 0) return;
    const of = colouring(name);
    if (!found.has(of.key)) found.set(of.key, { ...of, shade: 4, sum: 0, packs: new Map() });
    const one = found.get(of.key);
    one.sum += sum;
    one.packs.set(of.pack, (one.packs.get(of.pack) || 0) + sum);
  });
  const all = [...found.values()].sort((x, y) => !!KINDS[x.key] - !!KINDS[y.key] || y.sum - x.sum);
  const packs = all.flatMap((one) => KINDS[one.key] ? [] : [...one.packs.keys()]).filter((p) => p[0] !== '(');
  const shared = packs.length > 1 ? sharedBeginning(packs) : '';
  const below = (p) => p.startsWith(shared) ? p.slice(shared.length) : p;
  return [...shared ? [['', shared]] : [], ...all.map((one) => {
    const list = [...one.packs].sort((x, y) => y[1] - x[1]).map(([p]) => p);
    return [tone(one), KINDS[one.key] ? KINDS[one.key][2] : list.slice(0, 2).map(below).join(', ') + (list.length > 2 ? ` +${list.length - 2}` : ''), list.join('\n')];
  })];
}

function swatch(paint, text, title = '') {
  const box = element('i'), span = element('span', paint ? box : '', text);
  box.style.background = paint;
  span.title = title;
  return span;
}
function legend() {
  const spans = isDiff() ? [['hsl(8,90%,58%)', 'more than before'], ['hsl(214,90%,58%)', 'less'],
    [`hsl(${NEW},75%,70%)`, 'new'], [`hsl(${GONE},75%,70%)`, 'gone'], ...(state.samples.every((s) => s > 0) ? [['hsl(0,0%,70%)', 'noise']] : [])]
    : colours();
  if (matched) spans.unshift(['var(--hit)', $('share').textContent]);
  const made = spans.map((of) => swatch(...of));
  if (isDiff()) made.unshift(`${weight().title}: before ${quantity(state.total[0])}, after ${quantity(state.total[1])}  `);
  if (!$('band').hidden) made.push(...bandLegend());
  if (state.without.length) made.unshift(`without stacks through ${state.without.map((n) => names[n]).join(', ')}  `);
  if (state.skip) made.unshift(`without the ${state.skip} widest  `);
  if (state.focus >= 0) made.unshift(`callers (above) and callees of ${names[state.focus]}  `);
  $('legend').replaceChildren(...made);
}
