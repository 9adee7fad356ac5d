// The band above the flame graph, of tables of events: a heat map of the weight by second (from left to right) and
// within the second (from bottom to top), and below it a lane for each thread with its states. Lock waits are bars in
// the lanes, events without a thread, such as collections, are lines across all. Dragging selects a stretch of time.

const HEAT_ROWS = 20, HEAT_ROW = 3, HEAT = HEAT_ROWS * HEAT_ROW;
const AXIS = 16, LANE = 13, LANES_MOST = 300;
const LANES_TOP = HEAT + AXIS;
// By number of STATES. What has no state, as an allocation, has the colour of 0.
const STATE_HUES = [205, 0, 135, 0, 48, 235, 0];
const STATE_SATURATIONS = [60, 0, 55, 75, 70, 45, 0];

const band = { table: null, lanes: [], from: 0, until: 1, image: null, key: '', pressed: null, draws: 0 };

// The name of a moment, in ms since the file began, as the clock of the profiled machine showed it.
function timeText(ms, digits) {
  const { created_ms: created, utc_offset: offset } = state.sides[0].info;
  if (!+created) return (ms / 1000).toFixed(digits) + ' s';
  const text = new Date(+created + (+offset || 0) * 1000 + ms).toISOString();
  return text.slice(11, digits ? 20 + digits : 19);
}
// The moment of "12:03:10" or "12:03:10.5"; NaN: none. It is the first one after the file began.
function timeOf(text) {
  const parts = /^(\d+):(\d+)(?::(\d+(?:\.\d+)?))?$/.exec(text || '');
  if (!parts) return NaN;
  const { created_ms: created, utc_offset: offset } = state.sides[0].info, day = 86400e3;
  const began = (+created + (+offset || 0) * 1000) % day;
  const ms = (+parts[1] * 3600 + +parts[2] * 60 + +(parts[3] || 0)) * 1000 - began;
  return ms < -day / 2 ? ms + day : ms;
}

const hasBand = () => { const table = state.tables[state.table].table; return !isDiff() && !!table.at; };

// Orders the threads by weight and finds where the band begins and ends: whole seconds.
function setBand() {
  const table = state.tables[state.table].table, values = table.values[weightOf(table)];
  const weights = new Float64Array(table.threadNames.length);
  let from = Infinity, until = -Infinity;
  for (let i = 0; i < values.length; i++) {
    weights[table.threadOf[i]] += values[i];
    if (table.at[i] < from) from = table.at[i];
    if (table.at[i] > until) until = table.at[i];
  }
  band.table = table;
  band.from = Math.floor(from / 1000) * 1000;
  band.until = Math.max(Math.floor(until / 1000) * 1000, band.from) + 1000;
  const lanes = [...weights.keys()].sort((x, y) => weights[y] - weights[x]).slice(0, LANES_MOST);
  band.lanes = lanes.map((n) => table.threadNames[n]);
  band.laneOf = new Int32Array(weights.length).fill(-1);
  lanes.forEach((n, lane) => { band.laneOf[n] = lane; });
}

const gutter = (width) => Math.min(170, Math.round(width * 0.24));
const xOf = (ms, width) => gutter(width) + (ms - band.from) / (band.until - band.from) * (width - gutter(width));
const msAt = (x, width) => {
  const share = (x - gutter(width)) / (width - gutter(width));
  return band.from + Math.min(1, Math.max(0, share)) * (band.until - band.from);
};

// Sums of the weights by cell of the heat map. A column is a second, or several if they are narrower than a pixel.
function heatCells(width) {
  const seconds = (band.until - band.from) / 1000, each = Math.ceil(seconds / (width - gutter(width)));
  const columns = Math.ceil(seconds / each), cells = new Float64Array(columns * HEAT_ROWS);
  const { at } = band.table, values = band.table.values[weightOf(band.table)];
  for (let i = 0; i < values.length; i++) {
    const second = (at[i] - band.from) / 1000, whole = Math.floor(second);
    cells[Math.floor(whole / each) * HEAT_ROWS + Math.floor((second - whole) * HEAT_ROWS)] += values[i];
  }
  return { cells, columns, each };
}
function drawHeat(to, width) {
  const { cells, columns, each } = heatCells(width), most = cells.reduce((x, y) => Math.max(x, y), 0);
  const wide = (width - gutter(width)) * each * 1000 / (band.until - band.from);
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < HEAT_ROWS; row++) {
      const share = cells[column * HEAT_ROWS + row] / most;
      if (!(share > 0)) continue;
      const l = dark() ? 22 + 48 * share : 92 - 52 * share;
      to.fillStyle = `hsl(${Math.round(45 - 40 * share)},90%,${Math.round(l)}%)`;
      to.fillRect(gutter(width) + column * wide, HEAT - (row + 1) * HEAT_ROW, Math.max(wide - (wide > 4 ? 0.5 : 0), 0.5), HEAT_ROW);
    }
  }
}

function drawAxis(to, width, ink, line) {
  const space = width - gutter(width), steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
  const seconds = (band.until - band.from) / 1000, step = steps.find((s) => space * s / seconds >= 64) || seconds;
  to.textBaseline = 'middle';
  for (let s = 0; s < seconds; s += step) {
    const x = xOf(band.from + s * 1000, width);
    to.fillStyle = line;
    to.fillRect(x, 0, 1, HEAT + AXIS);
    if (x + 50 > width) continue;
    to.fillStyle = ink;
    to.fillText(timeText(band.from + s * 1000, 0), x + 3, HEAT + AXIS / 2);
  }
}

// Colours each pixel of a lane by the state that has the most weight there.
function drawLanes(to, width, ink, line) {
  const left = gutter(width), pixels = Math.max(1, Math.round(width - left)), states = STATES.length;
  const { at, states: stateOf, threadOf } = band.table, values = band.table.values[weightOf(band.table)];
  const sums = new Float32Array(band.lanes.length * pixels * states);
  const scale = pixels / (band.until - band.from);
  for (let i = 0; i < values.length; i++) {
    const lane = band.laneOf[threadOf[i]];
    if (lane < 0) continue;
    sums[(lane * pixels + Math.min(pixels - 1, Math.floor((at[i] - band.from) * scale))) * states + (stateOf ? stateOf[i] : 0)] += values[i];
  }
  band.lanes.forEach((name, lane) => {
    const top = LANES_TOP + lane * LANE;
    to.fillStyle = line;
    to.fillRect(left, top + LANE - 1, pixels, 0.5);
    to.fillStyle = ink;
    to.fillText(name || '(no thread)', 3, top + LANE / 2, left - 8);
    for (let x = 0; x < pixels; x++) {
      let best = -1;
      for (let s = 0, from = (lane * pixels + x) * states; s < states; s++) {
        if (sums[from + s] > 0 && (best < 0 || sums[from + s] > sums[from + best])) best = s;
      }
      if (best < 0) continue;
      to.fillStyle = stateColour(best);
      to.fillRect(left + x, top + 1, 1.2, LANE - 3);
    }
  });
}
const stateColour = (s) => `hsl(${STATE_HUES[s]},${STATE_SATURATIONS[s]}%,${dark() ? 52 : 46}%)`;

// Marks: bars for what a thread waited for, lines across all for what concerns the process.
function eachMark(each) {
  for (const table of state.sides[0].marks) {
    table.at.forEach((at, i) => each(table, at - table.took[i], at, table.threadNames[table.threadOf[i]]));
  }
}
const hasThreads = (table) => table.threadNames.some((name) => name);
const markColour = (table) => hasThreads(table) ? (dark() ? '#e55b5b' : '#c91d1d') : (dark() ? '#ff7af2' : '#d633c9');
function bandLegend() {
  const states = [...new Set(band.table.states || [])].map((s) => swatch(stateColour(s), STATES[s]));
  return [...states, ...state.sides[0].marks.map((table) => swatch(markColour(table), table.title.toLowerCase()))];
}
function drawMarks(to, width) {
  const lanes = new Map(band.lanes.map((name, lane) => [name, lane]));
  eachMark((table, from, until, thread) => {
    const x = Math.max(gutter(width), xOf(from, width)), wide = Math.max(1, xOf(until, width) - x);
    if (!thread) {
      to.fillStyle = markColour(table) + '66';
      to.fillRect(x, 0, wide, LANES_TOP + band.lanes.length * LANE);
    } else if (lanes.has(thread)) {
      to.fillStyle = markColour(table);
      to.fillRect(x, LANES_TOP + lanes.get(thread) * LANE + LANE - 5, wide, 3);
    }
  });
}

// Draws what stays while a stretch is dragged, once.
function paintBand(width, height, ratio) {
  const key = [state.table, weight().name, width, height, ratio, dark()].join();
  if (band.key === key) return;
  const style = getComputedStyle(document.documentElement);
  const image = band.image = document.createElement('canvas');
  image.width = Math.round(width * ratio); image.height = Math.round(height * ratio);
  const to = image.getContext('2d');
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.fillStyle = style.getPropertyValue('--bg');
  to.fillRect(0, 0, width, height);
  to.font = '11px system-ui, sans-serif';
  const ink = style.getPropertyValue('--fg'), line = style.getPropertyValue('--line');
  drawAxis(to, width, ink, line);
  drawHeat(to, width);
  drawLanes(to, width, ink, line);
  drawMarks(to, width);
  band.draws++;
  band.key = key;
}

function drawBand() {
  if ($('band').hidden) return;
  const canvas = $('time'), ratio = devicePixelRatio || 1;
  const width = $('band').clientWidth, height = LANES_TOP + band.lanes.length * LANE;
  paintBand(width, height, ratio);
  canvas.width = band.image.width; canvas.height = band.image.height;
  canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
  const to = canvas.getContext('2d');
  to.drawImage(band.image, 0, 0);
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  const test = threadTest(state.threads);
  to.fillStyle = dark() ? '#16181bb0' : '#ffffffb0';  // over what is not shown below
  if (test) band.lanes.forEach((name, lane) => { if (!test(name)) to.fillRect(0, LANES_TOP + lane * LANE, width, LANE); });
  if (!state.stretch) return;
  const [from, until] = state.stretch.map((ms) => xOf(ms, width));
  to.fillRect(gutter(width), 0, from - gutter(width), height);
  to.fillRect(until, 0, width - until, height);
  to.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--sel');
  to.lineWidth = 2;
  to.strokeRect(from, 1, Math.max(2, until - from), height - 2);
}

// Shows or hides the band, and the choice of threads.
function refreshBand() {
  const { threadNames } = state.tables[state.table].table, shown = hasBand();
  $('band').hidden = !shown;
  if (shown && (band.table !== state.tables[state.table].table || band.weight !== weight().name)) { setBand(); band.weight = weight().name; }
  if (shown && state.stretch) state.stretch = [Math.max(band.from, state.stretch[0]), Math.min(band.until, state.stretch[1])];
  $('threads').hidden = threadNames.filter((name) => name).length < 2 && !state.threads;
  $('threads').value = state.threads;
  $('thread-names').replaceChildren(...(shown ? band.lanes : threadNames).filter((name) => name).map((name) => new Option(name)));
  $('stretch').textContent = shown && state.stretch ? state.stretch.map((ms) => timeText(ms, 3)).join(' – ') : '';
  $('stretch').hidden = !$('stretch').textContent;
  drawBand();
}

// Shows a stretch of time below; null: all.
function cutTo(stretch) {
  const start = performance.now();
  state.stretch = stretch;
  weigh();
  refresh();
  draw();
  state.cutting = performance.now() - start;
}

function describeBand(e) {
  const box = $('time').getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top, width = box.width;
  const lane = Math.floor((y - LANES_TOP) / LANE), name = band.lanes[lane];
  const pixel = (band.until - band.from) / (width - gutter(width)), at = msAt(x, width);
  if (x < gutter(width)) return lane >= 0 ? { name: name || '(no thread)', text: 'click shows this thread only' } : null;
  const { table } = band, values = table.values[weightOf(table)], states = new Map();
  const [from, until] = lane < 0 ? [Math.floor(at / 1000) * 1000, Math.floor(at / 1000) * 1000 + 1000] : [at - 2 * pixel, at + 2 * pixel];
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    if (table.at[i] < from || table.at[i] >= until || lane >= 0 && table.threadNames[table.threadOf[i]] !== name) continue;
    sum += values[i];
    if (table.states) states.set(table.states[i], true);
  }
  const lines = [sum ? amount(sum) + (lane < 0 ? ' in this second' : '') : 'nothing recorded'];
  if (lane >= 0 && states.size) lines.push([...states.keys()].map((s) => STATES[s]).join(', '));
  let left = 5;
  eachMark((marks, begin, end, thread) => {
    if (end < at - 2 * pixel || begin > at + 2 * pixel || thread && thread !== name || left-- <= 0) return;
    lines.push(`${marks.title.toLowerCase()}: ${(end - begin).toFixed(end - begin < 10 ? 2 : 0)} ms`);
  });
  return { name: [timeText(at, 3), lane >= 0 && name].filter((t) => t).join('  '), text: lines.join('\n') };
}

// Moves the stretch by keys: a tenth of its length, with Shift its end.
function stepBand(key, shift) {
  const whole = band.until - band.from, [from, until] = state.stretch || [band.from, band.from + whole / 10];
  if (!state.stretch) return [from, until];
  const step = (key === 'ArrowLeft' ? -1 : 1) * (until - from) / 10;
  if (shift) return [from, Math.min(band.until, Math.max(from + whole / 1000, until + step))];
  const by = Math.max(band.from - from, Math.min(band.until - until, step));
  return [from + by, until + by];
}

function listenToBand() {
  const canvas = $('time'), box = $('band');
  const x = (e) => e.clientX - canvas.getBoundingClientRect().left;
  const dragged = (e) => {
    const moments = [band.pressed, x(e)].map((at) => msAt(at, canvas.clientWidth)).sort((one, other) => one - other);
    return Math.abs(x(e) - band.pressed) < 3 ? null : moments;
  };
  canvas.onpointerdown = (e) => {
    if (e.button !== 0 || x(e) < gutter(canvas.clientWidth)) return;
    band.pressed = x(e);
    band.before = snapshot();
    canvas.setPointerCapture(e.pointerId);
  };
  canvas.onpointermove = (e) => {
    if (band.pressed !== null) {
      $('tip').hidden = true;
      cancelAnimationFrame(band.pending);
      band.pending = requestAnimationFrame(() => { if (band.pressed !== null) cutTo(dragged(e)); });
      return;
    }
    const seen = describeBand(e);
    showTip(e, seen && seen.name, seen && seen.text);
  };
  canvas.onpointerup = (e) => {
    if (band.pressed === null) return;
    const stretch = dragged(e);
    band.pressed = null;
    state.past.push(band.before);
    cutTo(stretch);
  };
  canvas.onpointercancel = () => { band.pressed = null; };
  canvas.onpointerleave = () => showTip(null);
  canvas.onclick = (e) => {
    const lane = Math.floor((e.clientY - canvas.getBoundingClientRect().top - LANES_TOP) / LANE), name = band.lanes[lane];
    if (lane >= 0 && name && x(e) < gutter(canvas.clientWidth)) go({ threads: state.threads === name ? '' : name });
  };
  box.onkeydown = (e) => {
    if (!e.key.startsWith('Arrow') || e.key === 'ArrowUp' || e.key === 'ArrowDown' || e.ctrlKey || e.metaKey || e.altKey) return;
    cutTo(stepBand(e.key, e.shiftKey));
    e.preventDefault();
    e.stopPropagation();
  };
  new ResizeObserver(drawBand).observe(box);
  $('threads').onchange = (e) => go({ threads: e.target.value });
  $('stretch').onclick = () => go({ stretch: null });
}
