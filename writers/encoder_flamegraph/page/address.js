// The address of the page names the picture: what is behind its # is read at the start and written at each change.

function keep() {
  const said = new URLSearchParams();
  if (state.tables.length > 1) said.set('t', state.table);
  said.set('w', weight().name);
  said.set('v', state.view);
  if (state.zoom.length) said.set('z', state.zoom.map((n) => names[n]).join(';'));
  if (state.focus >= 0) said.set('f', names[state.focus]);
  if (state.query) said.set('q', state.query);
  for (const box of BOXES) if (state[box]) said.set(box[0], 1);
  if (state.threads) said.set('u', state.threads);
  if (state.without.length) said.set('x', state.without.map((n) => names[n]).join(';'));
  if (state.stretch) said.set('s', state.stretch.map((ms) => Math.round(ms)).join('-'));
  if (state.grid) said.set('g', state.sort);
  if (document.documentElement.dataset.theme) said.set('d', document.documentElement.dataset.theme);
  history.replaceState(null, '', '#' + said);
}
function recall() {
  const said = new URLSearchParams(location.hash.slice(1)), known = (n) => numbers.has(n);
  const changes = { view: ['flame', 'icicle', 'callers'].includes(said.get('v')) ? said.get('v') : 'icicle' };
  if (said.has('t') && state.tables[+said.get('t')]) changes.table = +said.get('t');
  changes.weight = said.get('w') || '';
  for (const box of BOXES) changes[box] = !!said.get(box[0]);
  changes.threads = said.get('u') || '';
  const stretch = (said.get('s') || '').split('-').map(Number);
  changes.stretch = stretch.length === 2 && stretch[0] < stretch[1] ? stretch : null;
  changes.grid = said.has('g');
  changes.sort = said.get('g') || 'self';
  changes.query = said.get('q') || '';
  changes.focus = said.get('f') && known(said.get('f')) ? numbers.get(said.get('f')) : -1;
  const listed = (key) => (said.get(key) || '').split(';').filter((n) => n);
  const zoom = listed('z');
  changes.zoom = zoom.every(known) ? zoom.map((n) => numbers.get(n)) : [];
  changes.without = listed('x').filter(known).map((n) => numbers.get(n));
  if (said.get('d')) document.documentElement.dataset.theme = said.get('d');
  return changes;
}
