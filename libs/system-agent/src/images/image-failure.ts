import { messageOf, quoteText } from '@wins/wins-program';
import { AgentError } from '../agent-error.js';

/** Why an image cannot be had. `what` is what was tried, with foreign text quoted already. */
export function imageFailed(
  what: string,
  found: string,
  wanted: string,
  cause?: unknown,
): AgentError {
  return new AgentError('imageFailed', `cannot ${what}: found ${found}; wanted ${wanted}`, {
    cause,
  });
}

/** What a library or Node raised, as an error of ours; one of ours stays as it is. */
export function asImageError(error: unknown, what: string): AgentError {
  if (error instanceof AgentError) return error;
  return new AgentError('imageFailed', `cannot ${what}: ${quoteText(messageOf(error))}`, {
    cause: error,
  });
}
