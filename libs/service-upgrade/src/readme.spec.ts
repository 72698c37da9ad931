import { readFileSync } from 'node:fs';
import path from 'node:path';
import { compileFunction } from 'node:vm';
import * as library from './index.js';

it('the README has an example that prints what it says', () => {
  const readme = readFileSync(path.join(__dirname, '..', 'README.md'), 'utf8');
  const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  const printed = /```text\n(.*?)```/s.exec(readme)?.[1];
  const lines: unknown[] = [];
  const names = { console: { log: (line: unknown) => lines.push(line) }, ...library };
  const run = compileFunction(example.replace(/^import .*;$/gm, ''), Object.keys(names)) as (
    ...values: unknown[]
  ) => void;
  run(...Object.values(names));
  expect(`${lines.join('\n')}\n`).toBe(printed);
});
