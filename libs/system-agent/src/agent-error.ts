/**
 * Why the agent could not do something.
 *
 * - `invalidPlan`: the text of a plan cannot be read.
 * - `invalidState`: a key of the Secret, or a file of ours, cannot be read.
 * - `invalidConnection`: the connection info or its kubeconfig cannot be used.
 * - `fileFailed`: a file of a plan cannot be made as wanted.
 * - `imageFailed`: an image cannot be found, fetched, checked or unpacked.
 * - `unreachable`: the API server or a registry does not answer.
 * - `unauthorized`, `forbidden`, `notFound`, `conflict`, `expired`, `tooLarge`: the API server answered 401, 403, 404, 409, 410, 422.
 * - `refused`: it answered anything else.
 * - `closed`: the agent was told to stop.
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

/** Answer of an API server that refused. */
export interface Refusal {
  /** Status of HTTP, or of a Status in a watch. */
  readonly status?: number;
  /** How long the server asks us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** The one error class of this library. */
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
