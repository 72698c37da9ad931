import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadSources } from '../load-sources.mjs';
import { compiledSettings, configTypes } from './config-types.mjs';

/** @type {any} */
let sources;
/** @type {import('./config-types.mjs').CompiledSettings} */
let compiled;

before(async () => {
  sources = await loadSources(
    `export { configKeys } from '@wins/config';
    export { FILE_SCHEMA } from '../libs/config/src/schema/file-schema.js';
    export { SETTING_NAMES } from '../libs/config/src/parse/settings-of.js';
    export { bareSchema, entryOf, fieldsOf, notesOf } from '../libs/config/src/schema/notation.js';`,
    'apps',
  );
  compiled = compiledSettings();
});

test('a key has its type with its meaning, limits and default', () => {
  const types = configTypes(sources, compiled);
  assert.match(
    types,
    /Maximum number of tunnel sessions at a time\. From 1 to 1,024\. Default: 16\./,
  );
  assert.match(types, /^readonly maxSessions: number;$/m);
  assert.match(types, /^export interface TunnelLimits \{$/m);
});

test('a key without a setting is a fault', () => {
  assert.throws(
    () => configTypes({ ...sources, SETTING_NAMES: {} }, compiled),
    /no setting has the value of the key white_list/,
  );
});

test('a setting without a key is a fault', () => {
  const fieldsOf = (/** @type {any} */ schema) => {
    const fields = sources.fieldsOf(schema);
    fields?.delete('probePort');
    return fields;
  };
  assert.throws(
    () => configTypes({ ...sources, fieldsOf }, compiled),
    /no key has the setting probePort/,
  );
});
