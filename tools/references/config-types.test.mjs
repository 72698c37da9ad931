import assert from 'node:assert/strict';
import path from 'node:path';
import { before, test } from 'node:test';
import { memoryProgram } from '../lint/memory-program.mjs';
import { loadSources } from '../load-sources.mjs';
import { configTypes, settingsIn } from './config-types.mjs';

const SOURCE = path.resolve(import.meta.dirname, '../../libs/config/src/parse/settings-of.ts');
const KEYS = [
  { key: 'tunnel', meaning: 'Limits of the tunnel.' },
  { key: 'tunnel.maxSessions', meaning: 'Maximum number of sessions.', default: 16 },
  { key: 'probe_port', meaning: 'Port of probes.', absent: 'no probes' },
];

/** @type {any} */
let sources;

before(async () => {
  sources = await loadSources(
    `import * as z from 'zod/mini';
    import { about, bareSchema, entryOf, fieldsOf, notesOf } from '../libs/config/src/schema/notation.js';
    export { bareSchema, entryOf, fieldsOf, notesOf };
    export const settingName = (key) => (key === 'probe_port' ? 'probePort' : key);
    const maxSessions = z.number().check(z.gte(1), z.lte(1024));
    const tunnel = z.object({
      maxSessions: z.prefault(about(maxSessions, 'Maximum number of sessions.'), 16),
    });
    export const FILE_SCHEMA = z.object({
      tunnel: about(tunnel, 'Limits of the tunnel.', { typeName: 'TunnelLimits' }),
      probe_port: z.exactOptional(about(z.int().check(z.gte(1), z.lte(65535)), 'Port of probes.')),
    });`,
    'apps',
  );
  sources.configKeys = () => KEYS;
});

/** @param {string} type - The type that the compiler infers for the settings. */
const typesOf = (type) =>
  configTypes(
    sources,
    settingsIn(memoryProgram({ [SOURCE]: `export declare function settingsOf(): ${type};` })),
  );

test('a key has its type with its meaning, limits and default', () => {
  const types = typesOf('{ tunnel: { maxSessions: number }; probePort?: number }');
  assert.match(types, /^export interface TunnelLimits \{$/m);
  assert.match(
    types,
    /^\/\*\* Maximum number of sessions\. From 1 to 1,024\. Default: 16\. \*\/$/m,
  );
  assert.match(types, /^readonly maxSessions: number;$/m);
  assert.match(types, /Key `probe_port`: Port of probes\. From 1 to 65,535\. Absent: no probes\./);
  assert.match(types, /^readonly probePort\?: number \| undefined;$/m);
});

test('a key without a setting is a fault', () => {
  assert.throws(
    () => typesOf('{ tunnel: { maxSessions: number } }'),
    /no setting has the value of the key probe_port/,
  );
});

test('a setting without a key is a fault', () => {
  assert.throws(
    () => typesOf('{ tunnel: { maxSessions: number; other: string }; probePort?: number }'),
    /no key has the setting other/,
  );
});
