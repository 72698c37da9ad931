import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { loadCLibrary } from '../c-library.js';
import { keepDescriptors } from './keep-descriptors.js';

const onLinux = process.platform === 'linux' ? it : it.skip;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: inherited descriptors, which only Linux lists in /proc\n');

onLinux('keeps a descriptor that this process inherited from programs that it starts', () => {
  const opened = openSync('/etc/passwd', 'r');
  const { fcntl } = loadCLibrary();
  // F_DUPFD: the copy is handed on, as an inherited descriptor is.
  const inherited = fcntl(opened, 0, 'int', 100);
  const isHandedOn = (): boolean => {
    const { stdout } = spawnSync('/bin/ls', ['/proc/self/fd'], { encoding: 'utf8' });
    return stdout.split('\n').includes(String(inherited));
  };
  try {
    expect(isHandedOn()).toBe(true);
    keepDescriptors();
    expect(isHandedOn()).toBe(false);
  } finally {
    closeSync(inherited);
    closeSync(opened);
  }
});
