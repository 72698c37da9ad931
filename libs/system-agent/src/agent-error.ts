/**
 * Reason of a failure.
 * - `invalidPlan`, `invalidState`, `invalidConnection`: a plan, a key of the Secret or a file of the agent, or the
 * connection info or its kubeconfig cannot be used.
 * - `fileFailed`, `imageFailed`: a file of a plan, or an image, cannot be provided.
 * - `unreachable`: the API server or a registry does not answer.
 * - `unauthorized`, `forbidden`, `notFound`, `conflict`, `expired`, `tooLarge`: the API server answered 401, 403, 404,
 * 409, 410, 422; `refused`: anything else.
 * - `closed`: the agent is closed.
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
  | 'closed';

export interface Refusal {
  /** Status of HTTP, or of a Status in a watch. */
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly refusal: Refusal;

  constructor(
    readonly code: AgentErrorCode,
    message: string,
    { cause, ...refusal }: ErrorOptions & Refusal = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.refusal = refusal;
  }
}
