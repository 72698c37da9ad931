import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type RegistryValue, RegistryKey } from './registry.js';

describe('the registry', () => {
  const path = `SOFTWARE\\wins registry spec ${process.pid}`;
  after(() => RegistryKey.deleteTree(path));

  const written = new Map<string, RegistryValue>([
    ['', { type: 'text', value: 'of the key itself' }],
    ['empty', { type: 'text', value: '' }],
    ['Prüfung', { type: 'expandable-text', value: '%SystemRoot%\\Ä' }],
    ['list', { type: 'texts', value: ['A=1', 'B=2'] }],
    ['number', { type: 'number', value: 0xfffffffe }],
    ['bytes', { type: 'bytes', value: Buffer.from([1, 2, 3]) }],
    ['large', { type: 'text', value: 'x'.repeat(100_000) }],
    ['n'.repeat(255), { type: 'number', value: 1 }],
  ]);

  it('reads back every kind of value, one by one and all together', () => {
    const key = RegistryKey.create(path);
    for (const [name, value] of written) key.set(name, value);
    for (const [name, value] of written) assert.deepEqual(key.value(name), value);
    assert.deepEqual(key.values(), written);
    key.close();
    key.close();
    assert.throws(() => key.values(), RangeError);
  });

  it('says nothing of what is not there', () => {
    const key = RegistryKey.create(path);
    assert.equal(key.value('no such value'), undefined);
    key.delete('no such value');
    key.close();
    assert.equal(RegistryKey.open(`${path}\\not\\there`), undefined);
    RegistryKey.deleteTree(`${path}\\not\\there`);
  });

  it('deletes a value, and a key with all below it', () => {
    const below = RegistryKey.create(`${path}\\tree\\below`);
    below.set('a', { type: 'number', value: 1 });
    below.delete('a');
    assert.equal(below.values().size, 0);
    below.set('b', { type: 'number', value: 1 });
    below.close();
    RegistryKey.deleteTree(`${path}\\tree`);
    assert.equal(RegistryKey.open(`${path}\\tree`), undefined);
    RegistryKey.open(path)?.close();
  });

  it('refuses names that would be read as other names', () => {
    const invalid = { name: 'WindowsError', code: 'invalidArgument' };
    assert.throws(() => RegistryKey.open('SOFTWARE\0x'), invalid);
    assert.throws(() => RegistryKey.deleteTree('SOFTWARE'), invalid);
    assert.throws(() => RegistryKey.deleteTree('SOFTWARE\\'), invalid);
  });

  it('names the key and the call when the system refuses', () => {
    assert.throws(() => RegistryKey.create('x'.repeat(300)), {
      name: 'WindowsError',
      functionName: 'RegCreateKeyExW',
      message: /cannot create the registry key x+: RegCreateKeyExW failed with/,
    });
  });
});
