import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { openEventLog, registerEventSource, unregisterEventSource } from './event-log.js';
import { RegistryKey } from '../registry/registry.js';

const source = `wins-spec-${process.pid}`;
const keyPath = `SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\${source}`;

describe('a source of events', () => {
  afterEach(() => unregisterEventSource(source));

  it('is registered with a file of messages that every Windows has, and again in place', () => {
    registerEventSource(source);
    registerEventSource(source);
    const key = RegistryKey.open(keyPath);
    assert.ok(key);
    assert.deepEqual(key.value('EventMessageFile'), {
      type: 'expandable-text',
      value: '%SystemRoot%\\System32\\EventCreate.exe',
    });
    assert.deepEqual(key.value('TypesSupported'), { type: 'number', value: 7 });
    key.close();
  });

  it('is forgotten, twice', () => {
    registerEventSource(source);
    unregisterEventSource(source);
    unregisterEventSource(source);
    assert.equal(RegistryKey.open(keyPath), undefined);
  });

  it('cannot be another key', () => {
    for (const bad of ['', 'a\\b', '..', 'a/b']) {
      assert.throws(() => registerEventSource(bad), RangeError);
      assert.throws(() => unregisterEventSource(bad), RangeError);
    }
  });
});

describe('the event log', () => {
  it('takes events of each type', () => {
    const log = openEventLog(source);
    for (const type of ['error', 'warning', 'information'] as const)
      assert.equal(log.report({ type, id: 11, lines: ['a spec', 'Grüße: \r\n%1\0'] }), true);
    assert.equal(log.report({ type: 'error', id: 1, lines: ['a'.repeat(100_000)] }), true);
    log.close();
  });

  it('refuses an id that has no text, and whatever comes after its end', () => {
    const log = openEventLog(source);
    for (const id of [0, 1001, 1.5])
      assert.throws(() => log.report({ type: 'error', id, lines: [] }), RangeError);
    log.close();
    log.close();
    assert.throws(() => log.report({ type: 'error', id: 1, lines: [] }), RangeError);
  });
});
