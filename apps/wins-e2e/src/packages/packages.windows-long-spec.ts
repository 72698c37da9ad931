/** @needs examples */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { sampleOf } from '../testing/sample.js';

const ROOT = process.env['WINS_ROOT'] ?? '';
const EXAMPLES = readdirSync(path.join(ROOT, 'examples/libraries')).map((file) =>
  path.basename(file, '.ts'),
);
const FORMS = { 'es-module': '.mjs', commonjs: '.cjs', 'esbuild-cjs': '.cjs' };
/** Libraries whose output on Windows differs from the README, because their examples need a daemon or print facts of this host. */
const ELSEWHERE = ['wins-api', 'windows-host'];

const folder = mkdtempSync(path.join(tmpdir(), 'wins-examples-'));
after(() => rmSync(folder, { recursive: true }));

for (const [form, end] of Object.entries(FORMS))
  describe(`the examples of the packages on Windows, as ${form}`, () => {
    for (const name of sampleOf(EXAMPLES, 6))
      it(`${name}: it prints what the README says`, () => {
        const file = path.join(ROOT, 'dist/examples/built', form, name + end);
        const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
          encoding: 'utf8',
          env: { ...process.env, TEMP: folder, TMP: folder },
        });
        const [library = ''] = name.split('.');
        assert.equal(library === 'wins-api' ? 0 : status, 0, stderr);
        if (ELSEWHERE.includes(library)) return;
        const readme = readFileSync(path.join(ROOT, 'libs', library, 'README.md'), 'utf8');
        const text = `\`\`\`text\n${stdout.replaceAll('\r\n', '\n')}\`\`\``;
        assert.ok(readme.includes(text), `it printed ${stdout}${stderr}`);
      });
  });
