import { createHash } from 'node:crypto';
import path from 'node:path';
import type { ItemKind } from '../item/item.js';
import { TestNode } from './node-harness.js';
import { storeContract, type StoreSubject } from './store-contract.js';

const SERVICE = 'a-service';
const bytes = [Buffer.from('one'), Buffer.from('two')] as const;
const [one, two] = bytes.map((each) => createHash('sha256').update(each).digest('hex')) as [
  string,
  string,
];

describe('a node of POSIX', () => {
  const node = new TestNode();
  afterAll(() => node[Symbol.dispose]());
  const { stores } = node.host();
  const state = { command: '"/bin/true"', startType: 'automatic' } as const;
  const location = path.join(node.root, 'system', 'var');

  beforeAll(() => stores.service.write({ kind: 'service', name: SERVICE }, state, undefined));

  const subjects: { readonly [K in ItemKind]?: StoreSubject<K> } = {
    folder: {
      store: stores.folder,
      item: { kind: 'folder', path: path.join(location, 'folder') },
      states: [{ access: 'private' }, { access: 'readable' }],
    },
    file: {
      store: stores.file,
      item: { kind: 'file', path: path.join(location, 'file') },
      states: [
        { sha256: one, access: 'private' },
        { sha256: two, access: 'readable' },
        { sha256: two, access: 'executable' },
      ],
      contents: bytes,
    },
    pathElement: {
      store: stores.pathElement,
      item: { kind: 'pathElement', path: '/opt/x/bin' },
      states: ['present'],
    },
    certificate: {
      store: stores.certificate,
      item: { kind: 'certificate', sha256: one },
      states: ['present'],
      contents: bytes,
    },
    winHttpProxy: {
      store: stores.winHttpProxy,
      item: { kind: 'winHttpProxy' },
      states: [
        { proxy: 'p:1', bypass: '' },
        { proxy: 'q:1', bypass: 'x;y' },
      ],
    },
    eventSource: {
      store: stores.eventSource,
      item: { kind: 'eventSource', name: 'a-source' },
      states: ['present'],
    },
    service: {
      store: stores.service,
      item: { kind: 'service', name: 'another' },
      states: [
        state,
        { ...state, startType: 'delayed' },
        { command: '"/bin/false"', startType: 'disabled' },
      ],
    },
    variable: {
      store: stores.variable,
      item: { kind: 'variable', service: SERVICE, name: 'A_NAME' },
      states: [{ sha256: one }, { sha256: two }],
      contents: bytes,
    },
    dependency: {
      store: stores.dependency,
      item: { kind: 'dependency', service: SERVICE, on: 'other' },
      states: ['present'],
    },
    running: {
      store: stores.running,
      item: { kind: 'running', service: SERVICE },
      states: ['present'],
    },
  };

  for (const [kind, subject] of Object.entries(subjects)) {
    describe(`its store of ${kind}`, () => {
      test.each(storeContract(subject as StoreSubject))('%s', async (_name, check) => check());
    });
  }
});
