import { isUsageError } from '@wins/base';
import { applyPlan } from './command.js';

it.each([
  ['a folder', '/', 'it is a folder'],
  ['a device without an end', '/dev/zero', 'it is a device'],
])('a plan in %s is refused as a wrong use of the command', async (_what, file, found) => {
  const error: unknown = await applyPlan({ file, 'dry-run': true }).catch((one: unknown) => one);
  expect(isUsageError(error)).toBe(true);
  expect(String(error)).toContain(found);
});
