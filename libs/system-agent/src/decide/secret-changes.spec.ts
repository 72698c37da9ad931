import { gzipSync } from 'node:zlib';

import type { PassResult } from '../apply/pass.js';
import { decidePass } from './decide-pass.js';
import { fitSecret, MAX_SECRET_BYTES, sizeOf } from './cut-outputs.js';
import { gunzipText, gzipText, outputsJson, periodicJson, probesJson } from './status-encoding.js';
import { secretChanges } from './secret-changes.js';
import { savedOutputs, savedPeriodic, secretState } from './secret-state.js';

const PLAN = 'a'.repeat(64);
const STARTED_AT = new Date('2026-11-02T00:31:01Z');
const NOTHING: PassResult = { succeeded: true, outputs: {}, periodic: {}, probes: {} };

const changes = (
  texts: Record<string, string | Buffer>,
  result: Partial<PassResult>,
  firstPass = false,
): Record<string, string> => {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [key, Buffer.from(value)]),
  );
  const state = secretState(data);
  const decision = decidePass(state, PLAN, { firstPass }, STARTED_AT);
  if (decision.kind === 'announce') throw new Error('nothing is applied yet');
  const values = secretChanges(
    {
      state,
      checksum: PLAN,
      decision,
      firstPass,
      startedAt: STARTED_AT,
      result: { ...NOTHING, ...result },
    },
    data,
  );
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, shown(value)]));
};
const shown = (value: Buffer): string =>
  value[0] === 0x1f ? `gzip ${gunzipText(value)}` : value.toString();

describe('secretChanges', () => {
  it('writes all keys at the first success', () => {
    expect(changes({}, { outputs: { b: Buffer.from('x'), 10: null, 9: null } }, true)).toEqual({
      'applied-checksum': PLAN,
      'applied-output': 'gzip {"10":null,"9":null,"b":"eA=="}',
      'applied-periodic-output': 'gzip {}',
      'failed-checksum': '',
      'failed-output': '',
      'failure-count': '0',
      'last-apply-time': 'Mon Nov  2 00:31:01 UTC 2026',
      'probe-statuses': '{}',
      'success-count': '1',
    });
  });

  it('writes the failure, and blanks the applied checksum in the first pass only', () => {
    const before = { 'applied-checksum': PLAN, 'failure-count': '0', 'success-count': '4' };
    const failure = {
      'applied-checksum': '',
      'applied-periodic-output': 'gzip {}',
      'failed-checksum': PLAN,
      'failed-output': 'gzip {}',
      'failure-count': '1',
      'last-apply-time': 'Mon Nov  2 00:31:01 UTC 2026',
      'probe-statuses': '{}',
      'success-count': '0',
    };
    expect(changes(before, { succeeded: false }, true)).toEqual(failure);
    const { 'applied-checksum': _, ...rest } = failure;
    expect(changes({ ...before, 'applied-checksum': 'b' }, { succeeded: false })).toEqual(rest);
  });

  it('writes which instruction failed, and takes that back with the failure alone', () => {
    const failure = { instruction: 'install', exitCode: 3, stderrEnd: 'no "room"\n' };
    const written = changes({}, { succeeded: false, failure });
    const key = { 'failed-instruction': written['failed-instruction'] ?? '' };
    expect(key).toEqual({
      'failed-instruction': '{"instruction":"install","exitCode":3,"stderr":"no \\"room\\"\\n"}',
    });
    const state = secretState({ 'failed-instruction': Buffer.from(key['failed-instruction']) });
    expect(state.failure).toEqual(failure);
    expect(changes({ 'plan-state': 'in-progress', ...key }, {})['failed-instruction']).toBe('');
    expect(changes({ 'plan-state': 'in-progress' }, {})).not.toHaveProperty('failed-instruction');
  });

  it('writes keys again that somebody removed, but none for a plan that has never run', () => {
    const keys = { 'applied-periodic-output': 'gzip {}', 'probe-statuses': '{}' };
    const applied = { 'applied-checksum': PLAN, 'failed-checksum': '', 'failed-output': '' };
    expect(changes({ ...applied, 'failure-count': '0' }, {})).toEqual(keys);
    expect(changes({ 'plan-state': 'cancelled' }, {})).toEqual({});
  });

  it.each(['__proto__', 'constructor', 'toString', '10'])('keeps what is named %s', (name) => {
    const outputs = Object.fromEntries([[name, Buffer.from('x')]]);
    const status = { healthy: true, successCount: 1, failureCount: 0 };
    const probes = Object.fromEntries([[name, status]]);
    const periodic = Object.fromEntries([
      [
        name,
        {
          name,
          stdout: Buffer.from('o'),
          stderr: null,
          exitCode: 0,
          failures: 0,
          lastSuccessfulRunTime: '',
          lastFailedRunTime: '',
        },
      ],
    ]);
    const data = {
      'applied-output': gzipText(outputsJson(outputs)),
      'applied-periodic-output': gzipText(periodicJson(periodic)),
      'probe-statuses': Buffer.from(probesJson(probes)),
    };
    expect(Object.entries(savedOutputs(data, false))).toEqual(Object.entries(outputs));
    expect(Object.entries(savedPeriodic(data))).toEqual(Object.entries(periodic));
    expect(Object.entries(secretState(data).probes)).toEqual(Object.entries(probes));
  });

  it.each(['', 'x', '[]', '{"instruction":1}', '{"instruction":"a","exitCode":"3","stderr":""}'])(
    'takes %j for no failed instruction',
    (text) => {
      expect(secretState({ 'failed-instruction': Buffer.from(text) }).failure).toBeUndefined();
    },
  );

  it('changes nothing of a plan in a terminal state, whatever its keys say', () => {
    const texts = { 'plan-state': 'failed', 'failed-checksum': PLAN, 'failure-count': '1' };
    expect(changes(texts, {})).toEqual({});
  });

  it('writes what changed in a pass over an applied plan, and takes back a failure of another', () => {
    const applied = {
      'applied-checksum': PLAN,
      'failed-checksum': 'b',
      'failed-output': '',
      'failure-count': '2',
    };
    const probes = { w: { healthy: true, successCount: 1, failureCount: 0 } };
    expect(changes(applied, { probes })).toEqual({
      'applied-periodic-output': 'gzip {}',
      'failed-checksum': '',
      'failure-count': '0',
      'probe-statuses': '{"w":{"healthy":true,"successCount":1}}',
    });
  });

  it('leaves outputs alone that another gzip packed', () => {
    const applied = {
      'applied-checksum': PLAN,
      'failed-checksum': '',
      'failed-output': '',
      'failure-count': '0',
      'applied-periodic-output': gzipSync('{}', { level: 1 }),
      'probe-statuses': '{}',
    };
    expect(changes(applied, {})).toEqual({});
  });
});

describe('the encodings of the Secret', () => {
  it('begin as the gzip of Go does', () => {
    expect(gzipText('{}').subarray(0, 10).toString('hex')).toBe('1f8b08000000000000ff');
  });

  it('read what they write, and what Go wrote', () => {
    const periodic = {
      p: {
        name: 'p',
        stdout: Buffer.from('x'),
        stderr: undefined,
        exitCode: -1,
        lastSuccessfulRunTime: '',
        failures: 2,
        lastFailedRunTime: 'Mon Nov  2 00:31:01 UTC 2026',
      },
      q: {
        name: 'q',
        stdout: null,
        stderr: null,
        exitCode: 0,
        lastSuccessfulRunTime: '',
        failures: 0,
        lastFailedRunTime: '',
      },
    };
    const text = periodicJson(periodic);
    expect(text).toContain('"p":{"name":"p","stdout":"eA==","stderr":"","exitCode":-1,');
    expect(text).toContain('"q":{"name":"q","stdout":null,"stderr":null,"exitCode":0,');
    expect(savedPeriodic({ 'applied-periodic-output': gzipText(text) })).toEqual(periodic);
  });

  it.each(['not gzip', gzipText('{bad secret'), gzipText('{"a":1}'), gzipText('[]')])(
    'refuse %p and repeat nothing of it',
    (value) => {
      const read = (): unknown => savedOutputs({ 'applied-output': Buffer.from(value) }, false);
      expect(read).toThrow(/^cannot read applied-output of the Secret: it is not JSON in gzip/);
      expect(read).not.toThrow(/bad secret/);
    },
  );

  it('refuse a bomb', () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(() => savedOutputs({ 'applied-output': bomb }, false)).toThrow(
      /cannot read applied-output/,
    );
  });
});

describe('fitSecret', () => {
  const random = (bytes: number): Buffer =>
    Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 7919 * (at >> 3)) & 0xff));

  it('leaves alone what fits', () => {
    const values = { 'applied-output': gzipText(outputsJson({ a: Buffer.from('x') })) };
    expect(fitSecret({ plan: Buffer.alloc(1000) }, values)).toBe(values);
  });

  it('cuts outputs and says how much is missing, next to a plan of nearly a megabyte', () => {
    const data = { plan: Buffer.alloc(900 * 1024) };
    const noise = Buffer.concat(Array.from({ length: 40 }, (_, i) => random(10_000 + i)));
    const values = fitSecret(data, {
      'applied-output': gzipText(outputsJson({ big: noise, small: Buffer.from('whole') })),
      'success-count': Buffer.from('1'),
    });
    expect(sizeOf({ ...data, ...values })).toBeLessThanOrEqual(MAX_SECRET_BYTES);
    const outputs = savedOutputs(values, false);
    expect(outputs['small']?.toString()).toBe('whole');
    const [, missing] =
      /\[(\d+) bytes are missing here/.exec(outputs['big']?.toString('latin1') ?? '') ?? [];
    const kept = noise.length - Number(missing);
    expect(outputs['big']?.subarray(0, kept).equals(noise.subarray(0, kept))).toBe(true);
    expect(values['success-count']?.toString()).toBe('1');
  });
});
