/**
 * Reason of a failure.
 *
 * - `invalidPlan`: the plan cannot be parsed, or exceeds a limit.
 * - `invalidState`: a key of the Secret or a file of the agent cannot be used.
 * - `invalidConnection`: the connection info or its kubeconfig cannot be used.
 * - `fileFailed`: a file of a plan cannot be written or removed.
 * - `imageFailed`: an image cannot be fetched or unpacked.
 * - `unreachable`: the API server or a registry does not answer.
 * - `unauthorized`, `forbidden`, `notFound`, `conflict`, `expired`: the API server answered 401, 403, 404, 409, 410.
 * - `tooLarge`: the API server answered 413, or 422 because a field is too long.
 * - `refused`: the API server gave another answer, or a program cannot be started.
 * - `aborted`: the caller's signal ended the call; `cause` is its reason.
 * - `closed`: the agent was closed.
 */
export type AgentErrorCode =
  | 'invalidPlan'
  | 'invalidState'
  | 'invalidConnection'
  | 'fileFailed'
  | 'imageFailed'
  | 'unreachable'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'expired'
  | 'tooLarge'
  | 'refused'
  | 'aborted'
  | 'closed';

/** Facts of an {@link AgentError}. Absent ones do not apply. */
export interface AgentErrorDetails extends ErrorOptions {
  /** HTTP status with which a server refused the request, or the code of a `Status` object in a watch. */
  readonly status?: number | undefined;
  /** Delay that the server requested, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The only error class of this library. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: AgentErrorCode,
    message: string,
    { cause, status, retryAfterMs }: AgentErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns the error for a call that its signal has ended: the reason itself if the agent was closed. */
export function abortedBy({ reason }: AbortSignal, tried: string): AgentError {
  if (reason instanceof AgentError) return reason;
  return new AgentError('aborted', `cannot ${tried}: it was aborted`, { cause: reason });
}

/** An abort wins over the failures that it causes. @throws AgentError `aborted`; any error of `work`. */
export async function unlessAborted<T>(
  signal: AbortSignal,
  tried: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? abortedBy(signal, tried) : error;
  }
}
