// node tools/suite/only-documentation.mjs
// In the root of a clone: exits with 0 if NX_BASE names a commit, and only inputs of the name `documentation` in nx.json differ from it.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { NX_BASE = '' } = process.env;

/** @type {{ namedInputs: { documentation: string[] } }} */
const { namedInputs } = JSON.parse(readFileSync('nx.json', 'utf8'));
const documentation = namedInputs.documentation.map((input) =>
  input.replace('{workspaceRoot}/', ':(exclude,glob)'),
);

if (NX_BASE === '') process.exitCode = 1;
else {
  const named = ['rev-parse', '--verify', '--end-of-options', `${NX_BASE}^{commit}`];
  const base = execFileSync('git', named, { encoding: 'utf8' }).trim();
  const { status } = spawnSync('git', ['diff', '--quiet', base, '--', '.', ...documentation]);
  process.exitCode = status === 0 ? 0 : 1;
}
