/** One table for each section of the config's JSON Schema. */
export const configTables = (schema) => describe('The top level', schema.properties).join('\n');

/** The schema of an entry also allows a short form, which has no keys. */
const fieldsOf = (value) => value.anyOf?.find(({ properties }) => properties) ?? value;

function typeOf(value) {
  if (value.enum !== undefined)
    return value.enum
      .filter((word) => word !== '')
      .map((word) => `\`${word}\``)
      .join(' or ');
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
        : `list of ${typeOf(value.items).replace(/^text$/, 'texts')}`;
    case 'string':
      return value.pattern === '^[0-9a-fA-F]{64}$' ? '64 hexadecimal digits' : 'text';
    case 'boolean':
      return '`true` or `false`';
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
  return text === '[]' || text === '{}' ? 'empty' : `\`${text.replaceAll('"', '')}\``;
}

/** Splits a description into meaning and first release. The schema joins them, because editors show only descriptions. */
function meaningOf({ description = '' }) {
  const [, meaning = description, since = ''] = /^([^]*) Since ([\d.]+)\.$/.exec(description) ?? [];
  return { meaning, since };
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Returns a table of `keys`, then one for each section and each list of entries. */
function describe(title, keys, required = [], about = '') {
  const rows = [];
  const below = [];
  for (const [key, value] of Object.entries(keys)) {
    if (value.properties !== undefined) {
      below.push(describe(key, value.properties, value.required, meaningOf(value).meaning));
      continue;
    }
    // A section that a scalar may replace.
    const short = value.anyOf?.[1]?.properties && value.anyOf[1];
    if (short) below.push(describe(key, short.properties, short.required));
    // Where one entry may replace the list, the list comes last.
    const list = value.anyOf?.at(-1) ?? value;
    const entry = list.type === 'array' && list.items ? fieldsOf(list.items) : {};
    if (entry.properties !== undefined)
      below.push(describe(`An entry of ${key}`, entry.properties, entry.required));
    const isRules = key === 'args' && value.type !== 'array';
    const type = isRules ? '`none`, `any`, or a list of argument lists' : typeOf(value);
    const { meaning, since } = meaningOf(value);
    const byDefault = defaultOf(value, required.includes(key));
    rows.push(`| \`${key}\` | ${type} | ${byDefault} | ${since} | ${cell(meaning)} |`);
  }
  const name = title.startsWith('An entry of ') ? title.replace(/\S+$/, '`$&`') : title;
  const heading = name === title && title !== 'The top level' ? `\`${title}\`` : name;
  const table =
    rows.length === 0
      ? []
      : ['| key | type | default | since | meaning |', '| - | - | - | - | - |', ...rows];
  return [
    `### ${heading}`,
    '',
    ...(about === '' ? [] : [about, '']),
    ...table,
    '',
    ...below.flat(),
  ];
}
