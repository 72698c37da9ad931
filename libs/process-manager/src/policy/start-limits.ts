import { ProcessError } from '../process-error.js';

/** The most of a kind that one start may have, and the longest of its texts. */
export const START_LIMITS = {
  arguments: 4_096,
  variables: 256,
  exposes: 256,
  /** Of each argument and of each `NAME=value`, in octets of UTF-8. */
  textBytes: 64 * 1024,
} as const;

/** What is counted of a request. */
export interface CountedRequest {
  readonly args: readonly string[];
  readonly envs: readonly string[];
  readonly exposes?: readonly unknown[];
}

/**
 * Refuses a request that asks for more than any program needs, before anything is done for it.
 *
 * @throws ProcessError `invalidArgument`.
 */
export function assertWithinLimits({ args, envs, exposes = [] }: CountedRequest): void {
  assertCount(args.length, START_LIMITS.arguments, 'arguments');
  assertCount(envs.length, START_LIMITS.variables, 'environment variables');
  assertCount(exposes.length, START_LIMITS.exposes, 'exposed ports');
  assertShort(args, 'argument');
  assertShort(envs, 'environment variable');
}

function assertCount(found: number, limit: number, what: string): void {
  if (found > limit) throw refusal(`it has more than ${limit} ${what}`);
}

function assertShort(texts: readonly string[], what: string): void {
  const { textBytes } = START_LIMITS;
  const index = texts.findIndex((text) => Buffer.byteLength(text) > textBytes);
  if (index === -1) return;
  throw refusal(`${what} ${index + 1} is longer than ${textBytes} bytes`);
}

function refusal(found: string): ProcessError {
  const message = `cannot start a program with this request: ${found}`;
  return new ProcessError('invalidArgument', message, { rule: 'A50 request too large' });
}
