import { status, type sendUnaryData } from '@grpc/grpc-js';
import type { AuditTrail } from '../audit/audit-trail.js';
import type { Decision } from '../audit/decision.js';
import type { Caller, Connections } from './connections.js';
import { respondWith, rpcError, toRpcError } from './rpc-errors.js';

export interface Callers extends Pick<Connections, 'clientOf' | 'ownerOf'> {
  /** Called when an administrator makes a call that others may not make. */
  readonly administered?: (caller: Caller) => void;
}

export type AnswerAdministrators = <Answer>(
  call: Caller,
  respond: sendUnaryData<Answer>,
  answer: () => Answer | Promise<Answer>,
) => void;

/** Aborts when the client is gone, but also after an answer: grpc-js emits `cancelled` at the end of every call. */
export function goneSignal(call: {
  once(event: 'cancelled', listener: () => void): unknown;
}): AbortSignal {
  const gone = new AbortController();
  call.once('cancelled', () => gone.abort());
  return gone.signal;
}

/** Records an administrator's action before it happens. @throws FeatureError `auditUnavailable`; the action must not happen then. */
export async function recordAction(
  call: Caller,
  {
    callers,
    audit,
  }: {
    readonly callers: Pick<Callers, 'clientOf'>;
    readonly audit: Pick<AuditTrail, 'decided'>;
  },
  decision: Pick<Decision, 'action' | 'recording' | 'name'>,
): Promise<void> {
  const { description: client, key } = callers.clientOf(call);
  await audit.decided({ ...decision, verdict: 'allowed', requester: call.getPeer(), client }, key);
}

/** Returns why a caller may not do `what`; undefined for an administrator. Unidentified clients are not administrators. */
export function refusalOf(
  callers: Pick<Callers, 'clientOf' | 'administered'>,
  call: Caller,
  what: string,
): ReturnType<typeof rpcError> | undefined {
  if (callers.clientOf(call).isAdministrator) {
    callers.administered?.(call);
    return undefined;
  }
  const details = `cannot ${what}: only administrators of the host may`;
  return rpcError(status.PERMISSION_DENIED, 'notAdministrator', details);
}

/** `failure` converts errors that `answer` throws. */
export function administratorsOnly(
  callers: Pick<Callers, 'clientOf' | 'administered'>,
  what: string,
  failure = toRpcError,
): AnswerAdministrators {
  return (call, respond, answer) => {
    const refusal = refusalOf(callers, call, what);
    if (refusal !== undefined) {
      respond(refusal);
      return;
    }
    respondWith(respond, Promise.resolve().then(answer), failure);
  };
}
