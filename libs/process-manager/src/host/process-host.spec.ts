import { existsSync } from 'node:fs';
import { processHostContract } from '../testing/index.js';
import { realHost } from '../testing/manager-harness.js';

describe('the process host of POSIX systems', () => {
  const findsDescendants = existsSync('/proc/self/environ');
  test.each(processHostContract({ host: realHost(), findsDescendants }))('%s', (_name, check) =>
    check(),
  );
});
