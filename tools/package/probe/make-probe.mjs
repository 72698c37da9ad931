// node make-probe.mjs OUT: makes an executable for Windows that contains the probe.
import path from 'node:path';
import { makeWindowsExecutable } from '../windows-executable.mjs';

await makeWindowsExecutable(
  [path.join(import.meta.dirname, 'wins.cjs')],
  path.resolve(process.argv[2]),
  '1.2.3',
);
