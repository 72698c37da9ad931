// node tools/config-reference.mjs [--check]
// Writes the tables of docs/config.md, between its two marks, from the schema that the built program prints. With --check it writes
// nothing, and fails when the page differs.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';

const root = path.resolve(import.meta.dirname, '..');
const page = path.join(root, 'docs/config.md');
const program = path.join(root, 'dist/wins.cjs');
const schema = JSON.parse(execFileSync(process.execPath, [program, 'srv', 'config', 'schema']));

/** The keys of a section or an entry; an entry has a short form as well. */
const fieldsOf = (value) => value.anyOf?.find(({ properties }) => properties) ?? value;

function typeOf(value) {
  if (value.enum !== undefined)
    return value.enum
      .filter((word) => word !== '')
      .map((word) => `\`${word}\``)
      .join(' or ');
  if (value.anyOf !== undefined) {
    const [one, full] = value.anyOf;
    return full.type === 'array'
      ? `${typeOf(one)}, or a list`
      : value.anyOf.map(typeOf).join(', or ');
  }
  switch (value.type) {
    case 'integer':
      return `${number(value.minimum)} to ${number(value.maximum)}`;
    case 'array':
      return fieldsOf(value.items).properties
        ? 'list of paths or entries'
        : `list of ${typeOf(value.items).replace(/^text$/, 'texts')}`;
    case 'string':
      return value.pattern === '^[0-9a-fA-F]{64}$' ? '64 hexadecimal digits' : 'text';
    case 'boolean':
      return '`true` or `false`';
    case 'object':
      return '`NAME: value` pairs';
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

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A table of these keys, then one for each section and each list of entries among them. */
function describe(title, keys, required = [], about = '') {
  const rows = [];
  const below = [];
  for (const [key, value] of Object.entries(keys)) {
    if (value.properties !== undefined) {
      below.push(describe(key, value.properties, value.required, value.description));
      continue;
    }
    const entry = value.type === 'array' ? fieldsOf(value.items) : {};
    if (entry.properties !== undefined)
      below.push(describe(`An entry of ${key}`, entry.properties, entry.required));
    const type = key === 'args' ? '`none`, `any`, or a list of argument lists' : typeOf(value);
    rows.push(
      `| \`${key}\` | ${type} | ${defaultOf(value, required.includes(key))} | ${cell(value.description ?? '')} |`,
    );
  }
  const name = title.startsWith('An entry of ') ? title.replace(/\S+$/, '`$&`') : title;
  const heading = name === title && title !== 'The top level' ? `\`${title}\`` : name;
  const table =
    rows.length === 0 ? [] : ['| key | type | default | meaning |', '| - | - | - | - |', ...rows];
  return [
    `### ${heading}`,
    '',
    ...(about === '' ? [] : [about, '']),
    ...table,
    '',
    ...below.flat(),
  ];
}

const [begin, end] = ['<!-- written by tools/config-reference.mjs -->', '<!-- up to here -->'];
const before = readFileSync(page, 'utf8');
const [head, tail] = [before.split(begin)[0], before.split(end)[1]];
if (tail === undefined) throw new Error(`cannot write docs/config.md: found no "${end}" in it`);
const tables = describe('The top level', schema.properties).join('\n');
const options = { ...(await resolveConfig(page)), filepath: page };
const after = await format(`${head}${begin}\n\n${tables}\n\n${end}${tail}`, options);

if (process.argv[2] !== '--check') writeFileSync(page, after);
else if (after !== before) {
  console.error('docs/config.md is not what the schema says: node tools/config-reference.mjs');
  process.exitCode = 1;
}
