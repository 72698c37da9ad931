import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileFunction } from 'node:vm';
import { WebSocket, WebSocketServer } from 'ws';
import * as library from './index.js';

describe('the README', () => {
  it('has an example that does what it says', async () => {
    const readme = readFileSync(path.join(__dirname, '..', 'README.md'), 'utf8');
    const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
    const directory = await mkdtemp(path.join(tmpdir(), 'readme-'));
    const body = example
      .replace(/^import [^;]*;$/gm, '')
      .replaceAll('/tmp/example-tunnel.sock', path.join(directory, 'tunnel.sock'));
    const names = { fetch, once, createServer, WebSocket, WebSocketServer, ...library };
    const run = compileFunction(
      `return (async () => {${body}\nreturn { answer, records };})();`,
      Object.keys(names),
    ) as (...values: unknown[]) => Promise<unknown>;
    expect(await run(...Object.values(names))).toMatchObject({
      answer: 'hello /there',
      records: [{ streamId: 1, allowed: true, rule: 'port-allowed' }],
    });
    await rm(directory, { recursive: true });
  });
});
