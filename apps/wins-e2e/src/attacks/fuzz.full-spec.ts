import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { ROOT } from '../testing/workspace.js';

const FUZZ = path.join(ROOT, 'tools/fuzz/fuzz.mjs');
const TARGETS = [
  ...['http2', 'grpc', 'tunnel', 'config', 'journal', 'files', 'registry', 'audit', 'daemon'],
  ...['signature', 'spool'],
];

it('every target of the fuzzer withstands its corpus and 50 cases', async () => {
  const { NODE_OPTIONS: _options, ...environment } = process.env;
  const args = ['--max-semi-space-size=1', FUZZ, '--cases', '50', '--seed', '1'];
  const { code, stdout, stderr } = await startProgram(process.execPath, args, environment).outcome;
  const printed = `${stdout.toString()}${stderr}`;
  expect({ code, printed: code === 0 ? '' : printed }).toEqual({ code: 0, printed: '' });
  for (const target of TARGETS)
    expect(printed).toMatch(new RegExp(`^${target}: seed 1, [56]\\d cases`, 'm'));
});
