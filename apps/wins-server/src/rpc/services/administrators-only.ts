import { status, type sendUnaryData } from '@grpc/grpc-js';
import type { Caller, Connections } from '../connections.js';
import { rpcError, toRpcError } from '../rpc-errors.js';

/** Answers a call of an administrator of the host, and refuses all others. */
export type AnswerAdministrators = <Answer>(
  call: Caller,
  respond: sendUnaryData<Answer>,
  answer: () => Answer | Promise<Answer>,
) => void;

/**
 * Why a caller is refused; undefined for an administrator of the host. Where the system does not tell clients apart, nobody is one.
 *
 * @param what - What cannot be done for others: `tell about the config`.
 */
export function refusalOf(
  connections: Pick<Connections, 'clientOf'>,
  call: Caller,
  what: string,
): ReturnType<typeof rpcError> | undefined {
  if (connections.clientOf(call).isAdministrator) return undefined;
  const details = `cannot ${what}: found a caller that is no administrator of the host; wanted one`;
  return rpcError(status.PERMISSION_DENIED, 'notAdministrator', details);
}

/**
 * Makes what answers the calls that are for administrators alone.
 *
 * @param what - As {@link refusalOf} takes it.
 * @param failure - The error of the wire for what an answer throws.
 */
export function administratorsOnly(
  connections: Pick<Connections, 'clientOf'>,
  what: string,
  failure = toRpcError,
): AnswerAdministrators {
  return (call, respond, answer) => {
    const refusal = refusalOf(connections, call, what);
    if (refusal !== undefined) {
      respond(refusal);
      return;
    }
    Promise.resolve()
      .then(answer)
      .then(
        (message) => respond(null, message),
        (error: unknown) => respond(failure(error)),
      );
  };
}
