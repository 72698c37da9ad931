import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileFunction } from 'node:vm';
import * as library from './index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'wins-readme-'));
const example = (file: string): string =>
  /```ts\n(.*?)```/s.exec(readFileSync(file, 'utf8').replace(/^ \* ?/gm, ''))?.[1] ?? '';

afterAll(() => rmSync(folder, { recursive: true }));

it.each(['../README.md', 'index.ts'])('the example of %s runs', async (file) => {
  const lines: unknown[] = [];
  const names = { console: { log: (line: unknown) => lines.push(line) }, ...library };
  const code = example(path.join(__dirname, file)).replace(/^import .*;$/gm, '');
  const here = code.replaceAll('/var/lib/example', path.join(folder, 'state'));
  const body = `return (async () => {${here}})();`;
  const run = compileFunction(body, Object.keys(names)) as (...values: unknown[]) => Promise<void>;
  await run(...Object.values(names));
  const sha256 = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';
  expect(lines).toEqual([{ sha256 }]);
});
