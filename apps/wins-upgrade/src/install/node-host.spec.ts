import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NodeParts } from '../node-of-system.js';
import { nodeHost } from './node-host.js';
import { NodeLock } from './node-lock.js';

it('the program of a service is a file, although a folder has the beginning of its path', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-host-'));
  try {
    const program = path.join(folder, 'my folder', 'wins');
    mkdirSync(path.join(folder, 'my'));
    mkdirSync(path.dirname(program));
    writeFileSync(program, '');
    const parts = { system: { stores: {} }, upgrade: { host: {} } } as unknown as NodeParts;
    const host = nodeHost(parts, new NodeLock(parts), []);
    expect(host.programOf(`${program} srv app run`)).toBe(program);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
