import { existsSync } from 'node:fs';
import { processHostContract } from '../testing/index.js';
import { realHost } from '../testing/manager-harness.js';

describe('the process host of POSIX systems', () => {
  const findsDescendants = existsSync('/proc/self/environ');
  const measures = findsDescendants ? 'all' : 'nothing';
  const subject = { host: realHost(), findsDescendants, measures } as const;
  test.each(processHostContract(subject))('%s', (_name, check) => check());
});
