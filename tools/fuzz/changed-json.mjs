// Generates changed versions of a JSON document, as texts.
const VALUES = [
  null,
  0,
  1,
  -1,
  2,
  1e15,
  0.5,
  '',
  'x',
  [],
  ['x'],
  [1],
  {},
  { x: {} },
  true,
  false,
  '__proto__',
  'toString',
  '../x',
  'a'.repeat(64),
  '\u202e\u001b[31m',
  '\0',
  '/',
  '\ud800',
];
const TEXTS = [
  '',
  '{',
  '}',
  '"',
  ',',
  '\0',
  '\ufeff',
  '\\u0000',
  '[',
  '1e999',
  '\ud800',
  '\n',
  '"__proto__":{},',
  '"__proto__":null,',
  '\\ud800',
  'null',
  '-',
  '# x\n',
];

/** Returns the paths of all values: names and indexes, joined by dots. */
function pathsOf(value, before = '') {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [
    before + name,
    ...pathsOf(inside, `${before}${name}.`),
  ]);
}

/**
 * Generates steps that change a document.
 *
 * @param {import('./random.mjs').Random} rng
 * @param {object} document
 * @param {{ readonly values?: readonly unknown[], readonly texts?: readonly string[] }} own - Values and texts that mean something in this document.
 */
export function generateChanges(rng, document, { values = [], texts = [] } = {}) {
  const paths = pathsOf(document);
  const length = JSON.stringify(document).length + 1;
  const anyText = () => rng.pick(rng.chance(0.5) && texts.length > 0 ? texts : TEXTS);
  const anyValue = () => rng.pick(rng.chance(0.5) && values.length > 0 ? values : VALUES);
  return [
    ...rng.list(3, () => ['set', rng.pick(paths), anyValue()]),
    ...rng.list(2, () => ['remove', rng.pick(paths)]),
    ...rng.list(rng.pick([0, 0, 0, 1]), () => ['add', rng.pick(paths), rng.pick(['x', 'a', '0'])]),
    ...rng.list(rng.pick([0, 0, 3]), () => ['insert', rng.below(length), anyText()]),
    ...rng.list(rng.pick([0, 0, 2]), () => ['cut', rng.below(length), 1 + rng.below(20)]),
    ...rng.list(Number(rng.chance(0.01)), () => ['nest', rng.below(length), rng.below(200_000)]),
  ];
}

export function changedJson(document, steps, indent = 0) {
  const changed = structuredClone(document);
  for (const [verb, where, value] of steps) {
    if (!['set', 'remove', 'add'].includes(verb)) continue;
    const names = where.split('.');
    const last = names.pop();
    const inside = names.reduce((object, name) => object?.[name], changed);
    if (typeof inside !== 'object' || inside === null) continue;
    if (verb === 'set') inside[last] = structuredClone(value);
    else if (verb === 'add') inside[value] = structuredClone(inside[last]);
    else delete inside[last];
  }
  let text = JSON.stringify(changed, null, indent);
  for (const [verb, at, what] of steps) {
    if (verb === 'insert') text = text.slice(0, at) + what + text.slice(at);
    if (verb === 'cut') text = text.slice(0, at) + text.slice(at + what);
    if (verb === 'nest') text = text.slice(0, at) + '['.repeat(what) + text.slice(at);
  }
  return text;
}
