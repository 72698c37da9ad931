import { ProcessError } from '../process-error.js';
import { assertWithinLimits, START_LIMITS, type CountedRequest } from '../start-request.js';

const { arguments: args, variables, exposes, textBytes } = START_LIMITS;

function refused(request: Partial<CountedRequest>): boolean {
  try {
    assertWithinLimits({ args: [], envs: [], ...request });
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ProcessError);
    expect(error).toMatchObject({ code: 'invalidArgument' });
    return true;
  }
}

it('takes what reaches a limit and refuses what is above it (A50, A51)', () => {
  const many = (count: number) => Array.from({ length: count }, () => 'x');
  expect(refused({ args: many(args), envs: many(variables), exposes: many(exposes) })).toBe(false);
  expect(refused({ args: many(args + 1) })).toBe(true);
  expect(refused({ envs: many(variables + 1) })).toBe(true);
  expect(refused({ exposes: many(exposes + 1) })).toBe(true);
  expect(refused({ args: ['x'.repeat(textBytes)] })).toBe(false);
  expect(refused({ args: ['x', '\u00e4'.repeat(textBytes / 2 + 1)] })).toBe(true);
  expect(refused({ envs: ['x'.repeat(textBytes + 1)] })).toBe(true);
});
