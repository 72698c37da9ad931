import { DEBUG_PIPE_SUFFIX } from '@wins/wins-program';

/** The name of the pipe of diagnosis of the daemon with this pipe: both have the same form. */
export function debugPipeOf(listen: string): string {
  return `${listen}${DEBUG_PIPE_SUFFIX}`;
}
