/** Returns a list of keys for each section of the config's JSON Schema. */
export const configKeyLists = (schema) =>
  describe('', schema.properties, { earlier: new Map() }).join('\n');

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
/** A heading's anchor, as GitHub and GitLab make it. */
const anchorOf = (section) => section.toLowerCase().replaceAll(/[.[\]]/g, '');

/**
 * Returns a list of `keys`, then one for each section and each list of entries. A key that an earlier section describes equally refers to it.
 *
 * @param section - Its location, such as `white_list.processPaths[].limits`; empty for the top level.
 */
function describe(section, keys, { required = [], about = '', earlier }) {
  const items = [];
  const repeated = new Map();
  const below = [];
  const known = Object.entries(keys).filter(([, value]) => value.properties === undefined);
  const releases = new Set(known.map(([, value]) => meaningOf(value).since || NEW_IN));
  const [release] = releases.size === 1 && section !== '' ? releases : [NEW_IN];
  for (const [key, value] of Object.entries(keys)) {
    const inner = section === '' ? key : `${section}.${key}`;
    if (value.properties !== undefined) {
      below.push([inner, value, meaningOf(value).meaning]);
      continue;
    }
    // A section that a scalar may replace.
    const short = value.anyOf?.[1]?.properties && value.anyOf[1];
    if (short) below.push([inner, short]);
    // Where one entry may replace the list, the list comes last.
    const list = value.anyOf?.at(-1) ?? value;
    const entry = list.type === 'array' && list.items ? fieldsOf(list.items) : {};
    if (entry.properties !== undefined) below.push([`${inner}[]`, entry]);
    const isRules = key === 'args' && value.type !== 'array';
    const type = isRules ? '`none`, `any`, or a list of argument lists' : typeOf(value);
    const parts = entry.properties === undefined && !short ? '' : `(#${anchorOf(inner)})`;
    const { meaning, since } = meaningOf(value);
    const notes = [
      parts === '' ? type : type.replace(/entries|a section/, `[$&]${parts}`),
      defaultOf(value, required.includes(key)),
      since === '' || since === NEW_IN || since === release ? '' : `since ${since}`,
    ].filter((note) => note !== '');
    const text = `- \`${key}\` (${notes.join('; ')}): ${inText(meaning)}`;
    const first = earlier.get(text);
    if (first === undefined) {
      items.push(text);
      earlier.set(text, section);
    } else repeated.set(first, [...(repeated.get(first) ?? []), `\`${key}\``]);
  }
  const references = [...repeated].map(
    ([first, names]) => `- ${names.join(', ')}: as in [\`${first}\`](#${anchorOf(first)})`,
  );
  const all = release === NEW_IN ? '' : `All keys since ${release}.`;
  const introduction = [about, all].filter((text) => text !== '').join(' ');
  return [
    section === '' ? '### The top level' : `### \`${section}\``,
    '',
    ...(introduction === '' ? [] : [introduction, '']),
    ...items,
    ...references,
    '',
    ...below.flatMap(([name, value, meaning]) =>
      describe(name, value.properties, { required: value.required, about: meaning, earlier }),
    ),
  ];
}
