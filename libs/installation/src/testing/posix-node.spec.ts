import { createHash } from 'node:crypto';
import path from 'node:path';
import type { ItemKind } from '../item/item.js';
import { TestNode } from './node-harness.js';
import { roomContract, type RoomSubject } from './room-contract.js';

const SERVICE = 'a-service';
const bytes = [Buffer.from('one'), Buffer.from('two')] as const;
const [one, two] = bytes.map((each) => createHash('sha256').update(each).digest('hex')) as [
  string,
  string,
];

describe('a node of POSIX', () => {
  const node = new TestNode();
  afterAll(() => node[Symbol.dispose]());
  const { rooms } = node.host();
  const state = { command: '"/bin/true"', startType: 'automatic' } as const;
  const place = path.join(node.root, 'system', 'var');

  beforeAll(() => rooms.service.write({ kind: 'service', name: SERVICE }, state, undefined));

  const subjects: { readonly [K in ItemKind]?: RoomSubject<K> } = {
    folder: {
      room: rooms.folder,
      item: { kind: 'folder', path: path.join(place, 'folder') },
      states: [{ access: 'private' }, { access: 'readable' }],
    },
    file: {
      room: rooms.file,
      item: { kind: 'file', path: path.join(place, 'file') },
      states: [
        { sha256: one, access: 'private' },
        { sha256: two, access: 'readable' },
        { sha256: two, access: 'executable' },
      ],
      contents: bytes,
    },
    pathElement: {
      room: rooms.pathElement,
      item: { kind: 'pathElement', path: '/opt/x/bin' },
      states: ['present'],
    },
    certificate: {
      room: rooms.certificate,
      item: { kind: 'certificate', sha256: one },
      states: ['present'],
      contents: bytes,
    },
    winHttpProxy: {
      room: rooms.winHttpProxy,
      item: { kind: 'winHttpProxy' },
      states: [
        { proxy: 'p:1', bypass: '' },
        { proxy: 'q:1', bypass: 'x;y' },
      ],
    },
    eventSource: {
      room: rooms.eventSource,
      item: { kind: 'eventSource', name: 'a-source' },
      states: ['present'],
    },
    service: {
      room: rooms.service,
      item: { kind: 'service', name: 'another' },
      states: [
        state,
        { ...state, startType: 'delayed' },
        { command: '"/bin/false"', startType: 'disabled' },
      ],
    },
    variable: {
      room: rooms.variable,
      item: { kind: 'variable', service: SERVICE, name: 'A_NAME' },
      states: [{ sha256: one }, { sha256: two }],
      contents: bytes,
    },
    dependency: {
      room: rooms.dependency,
      item: { kind: 'dependency', service: SERVICE, on: 'other' },
      states: ['present'],
    },
    running: {
      room: rooms.running,
      item: { kind: 'running', service: SERVICE },
      states: ['present'],
    },
  };

  for (const [kind, subject] of Object.entries(subjects)) {
    describe(`its room of ${kind}`, () => {
      test.each(roomContract(subject as RoomSubject))('%s', async (_name, check) => check());
    });
  }
});
