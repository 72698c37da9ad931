import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';

/** Plays an operation that reports to `callback`, and checks that the operation goes on. */
export type ReportingOperation = (callback: () => unknown) => unknown;

const failure = new Error('the log of the caller is full');
const FAILURES = {
  throws: () => {
    throw failure;
  },
  rejects: () => Promise.reject(failure),
};
/** The process, with its events. The `process` of a spec is a copy by Jest, which gets none. */
export const observedProcess = runInThisContext('process') as NodeJS.Process;

/** Keeps warnings of the process out of its stderr until disposal. Other listeners get them. */
export function hushWarnings(): Disposable {
  const hushed = observedProcess.listeners('warning');
  for (const listener of hushed) observedProcess.off('warning', listener);
  return {
    [Symbol.dispose]: () => {
      for (const listener of hushed) observedProcess.on('warning', listener);
    },
  };
}

/**
 * Returns rows for `it.each`: plays each operation with a callback that throws and with one that rejects, and requires that each failure is a warning
 * of the process, and nothing else.
 */
export function failingCallbacks(
  operations: Readonly<Record<string, ReportingOperation>>,
): readonly (readonly [title: string, play: () => Promise<void>])[] {
  return Object.entries(operations).flatMap(([name, operation]) =>
    Object.entries(FAILURES).map(
      ([how, fail]) => [`${name} ${how}`, () => played(operation, fail)] as const,
    ),
  );
}

async function played(operation: ReportingOperation, fail: () => unknown): Promise<void> {
  const codes: unknown[] = [];
  const onWarning = (warning: Error & { readonly code?: string }): void => {
    codes.push(warning.code);
  };
  const onUnhandled = (): void => {
    codes.push('an unhandled rejection');
  };
  using _hushed = hushWarnings();
  observedProcess.on('warning', onWarning).on('unhandledRejection', onUnhandled);
  let calls = 0;
  try {
    await operation(() => {
      calls += 1;
      return fail();
    });
    await turn();
  } finally {
    observedProcess.off('warning', onWarning).off('unhandledRejection', onUnhandled);
  }
  assert(calls > 0, 'the callback was not called');
  assert.deepEqual(codes, Array<string>(calls).fill('WINS_CALLBACK_FAILED'));
}
