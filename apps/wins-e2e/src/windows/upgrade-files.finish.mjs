// Takes the drives of upgrade-files.windows-spec.ts away again.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const cache = path.resolve(import.meta.dirname, '../../../../node_modules/.cache/wins-windows');
if (process.platform !== 'win32')
  for (const name of ['small-disk', 'read-only-disk'])
    spawnSync('/bin/umount', ['-l', path.join(cache, name)], { stdio: 'ignore' });
