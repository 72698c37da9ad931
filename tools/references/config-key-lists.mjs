const TOP = 'The top level';

/** Returns a list of keys for each section of the config's JSON Schema. */
export const configKeyLists = (schema) =>
  describe(TOP, schema.properties, { earlier: new Map() }).join('\n');

/** The schema of an entry also allows a short form, which has no keys. */
const fieldsOf = (value) => value.anyOf?.find(({ properties }) => properties) ?? value;

function typeOf(value) {
  if (value.enum !== undefined) {
    const words = value.enum.filter((word) => word !== '').map((word) => `\`${word}\``);
    return words.length > 2 ? `one of ${words.join(', ')}` : words.join(' or ');
  }
  if (value.anyOf !== undefined) {
    const [one, full] = value.anyOf;
    if (full.properties !== undefined) return `${typeOf(one)}, or a section`;
    return full.type === 'array'
      ? `${typeOf(one)}, or a list`
      : value.anyOf.map(typeOf).join(', or ');
  }
  switch (value.type) {
    case 'integer':
    case 'number':
      return `${number(value.minimum)} to ${number(value.maximum)}`;
    case 'array':
      return fieldsOf(value.items).properties
        ? `list of ${value.items.anyOf === undefined ? '' : 'paths or '}entries`
        : `list of ${typeOf(value.items)
            .replace(/^text$/, 'texts')
            .replace(/^one of /, '')}`;
    case 'string':
      return value.pattern === '^[0-9a-fA-F]{64}$' ? '64 hexadecimal digits' : 'text';
    case 'boolean':
      return 'boolean';
    case 'object':
      return value.properties === undefined ? '`NAME: value` pairs' : 'an entry';
    default:
      return 'text';
  }
}
const number = (value) => value.toLocaleString('en-US');

function defaultOf(value, isRequired) {
  if (isRequired) return 'required';
  if (value.default === undefined) return '';
  const text = JSON.stringify(value.default);
  return text === '[]' || text === '{}' ? '' : `default \`${text.replaceAll('"', '')}\``;
}

/** Splits a description into meaning and first release. The schema joins them, because editors show only descriptions. */
function meaningOf({ description = '' }) {
  const [, meaning = description, since = ''] = /^([^]*) Since ([\d.]+)\.$/.exec(description) ?? [];
  return { meaning, since };
}

/** A key without "since" came with this release. */
const NEW_IN = '1.0.0';

const inText = (text) => text.replaceAll('<', '\\<').replaceAll('\n', ' ');
const anchorOf = (name) => name.toLowerCase().replaceAll('`', '').replaceAll(' ', '-');

/** Returns a list of `keys`, then one for each section and each list of entries. A key that an earlier section describes equally refers to it. */
function describe(title, keys, { required = [], about = '', earlier }) {
  const items = [];
  const repeated = new Map();
  const below = [];
  const isEntry = title.startsWith('An entry of ');
  const name = isEntry ? title.replace(/\S+$/, '`$&`') : title === TOP ? title : `\`${title}\``;
  for (const [key, value] of Object.entries(keys)) {
    if (value.properties !== undefined) {
      below.push([key, value, meaningOf(value).meaning]);
      continue;
    }
    // A section that a scalar may replace.
    const short = value.anyOf?.[1]?.properties && value.anyOf[1];
    if (short) below.push([key, short]);
    // Where one entry may replace the list, the list comes last.
    const list = value.anyOf?.at(-1) ?? value;
    const entry = list.type === 'array' && list.items ? fieldsOf(list.items) : {};
    if (entry.properties !== undefined) below.push([`An entry of ${key}`, entry]);
    const isRules = key === 'args' && value.type !== 'array';
    const type = isRules ? '`none`, `any`, or a list of argument lists' : typeOf(value);
    const { meaning, since } = meaningOf(value);
    const notes = [
      type,
      defaultOf(value, required.includes(key)),
      since === '' || since === NEW_IN ? '' : `since ${since}`,
    ].filter((note) => note !== '');
    const text = `- \`${key}\` (${notes.join('; ')}): ${inText(meaning)}`;
    const first = earlier.get(text);
    if (first === undefined) {
      items.push(text);
      earlier.set(text, name);
    } else repeated.set(first, [...(repeated.get(first) ?? []), `\`${key}\``]);
  }
  const references = [...repeated].map(
    ([first, names]) =>
      `- ${names.join(', ')}: as in [${first.replace('An', 'an')}](#${anchorOf(first)})`,
  );
  return [
    `### ${name}`,
    '',
    ...(about === '' ? [] : [about, '']),
    ...items,
    ...references,
    '',
    ...below.flatMap(([heading, section, meaning]) =>
      describe(heading, section.properties, {
        required: section.required,
        about: meaning,
        earlier,
      }),
    ),
  ];
}
