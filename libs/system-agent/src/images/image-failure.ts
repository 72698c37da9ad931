import { messageOf, quoteText } from '@wins/base';
import * as z from 'zod/mini';
import { AgentError } from '../agent-error.js';

/** @param what - Must already quote untrusted text. */
export function imageFailed(what: string, found: string, wanted: string, cause?: unknown) {
  return new AgentError('imageFailed', `cannot ${what}: found ${found}; wanted ${wanted}`, {
    cause,
  });
}

export function asImageError(error: unknown, what: string): AgentError {
  if (error instanceof AgentError) return error;
  return new AgentError('imageFailed', `cannot ${what}: ${quoteText(messageOf(error))}`, {
    cause: error,
  });
}

/** Errors quote no value, because it may be a password. */
export function parseJson<T>(
  schema: z.core.$ZodType<T>,
  text: string | Buffer,
  [what, wanted]: readonly [what: string, wanted: string],
): T {
  let json: unknown;
  try {
    json = JSON.parse(text.toString());
  } catch {
    throw imageFailed(`read ${what}`, 'no JSON', wanted);
  }
  const { data, success } = z.safeParse(schema, json);
  if (success) return data;
  throw imageFailed(`read ${what}`, 'JSON of another form', wanted);
}
