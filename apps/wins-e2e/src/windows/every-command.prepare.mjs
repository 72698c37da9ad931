// every-command.windows-spec.ts tries the executable that is released.
import path from 'node:path';

// Computed, since a tool is no part of a project.
const { runNpm } = await import(new URL('../../../../tools/windows/npm.mjs', import.meta.url));
const cwd = path.resolve(import.meta.dirname, '../../../..');
runNpm(['run', '--silent', 'package'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
