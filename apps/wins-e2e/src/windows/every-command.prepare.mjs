// every-command.windows-spec.ts tries the executable that is released.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const cwd = path.resolve(import.meta.dirname, '../../../..');
execFileSync('npm', ['run', '--silent', 'package'], {
  cwd,
  stdio: ['ignore', 'ignore', 'inherit'],
});
