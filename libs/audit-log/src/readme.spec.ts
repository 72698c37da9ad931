import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileFunction } from 'node:vm';
import * as library from './index.js';

describe('the README', () => {
  it('has an example that does what it says', async () => {
    const readme = readFileSync(path.join(__dirname, '..', 'README.md'), 'utf8');
    const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
    const root = await mkdtemp(path.join(tmpdir(), 'readme-'));
    const body = example
      .replace(/^import [^;]*;$/gm, '')
      .replaceAll('/tmp/example-audit', path.join(root, 'audit'));
    const said: unknown[] = [];
    const names = { console: { error: (what: unknown) => said.push(what) }, ...library };
    const run = compileFunction(
      `return (async () => {${body}\nreturn { ok, kinds: [...kinds] };})();`,
      Object.keys(names),
    ) as (...values: unknown[]) => Promise<unknown>;
    expect(await run(...Object.values(names))).toEqual({
      ok: true,
      kinds: ['opened', 'start', 'connect', 'counted'],
    });
    expect(said).toEqual([{ isAvailable: true }]);
    await rm(root, { recursive: true });
  });
});
