import type { HostSystem } from '@wins/base';
import type { sendUnaryData } from '@grpc/grpc-js';
import type { Claim, Shares } from '../../kernel/admission/shares.js';
import type { DecidedAction, DecidingCode, Decision } from '../../kernel/audit/decision.js';
import { FeatureError, hostSystemErrorCode } from '../../kernel/feature-error.js';
import type { Caller, Connections } from '../../kernel/rpc/connections.js';
import { respondWith } from '../../kernel/rpc/rpc-errors.js';

/** Subjects in a record, and characters of each. */
const AUDITED = 64;

/** One decision about a host call, for the audit log; `failed`: it was allowed, and the system could not do it. */
export type HostDecision = Decision & {
  /** Name that the client gives itself; proof of nothing. */
  readonly clientSays?: string;
  /** Subject of the call: the first 64 addresses, or a name; texts of the client are cut at 64 characters. */
  readonly subject: readonly string[];
  readonly subjectCount: number;
};

/** Calls about the host. */
export type HostAction = Extract<
  DecidedAction,
  'getVersion' | 'getAdapter' | 'getHnsNetwork' | 'listRoutes' | 'addRoutes' | 'removeRoutes'
>;

/** Asks the system, once the call is allowed. */
type Ask<Answer> = (host: HostSystem) => Promise<Answer>;

/** A call as one of the services describes it. */
export interface HostCall<Answer> {
  readonly action: HostAction;
  /** Subject of the call, as the client wrote it. */
  readonly subject: readonly string[];
  /** Whether it changes the host: one at a time does, in the order of their coming. Default: it does not. */
  readonly changes?: boolean;
  /** Checks the request and says what to ask of the system. @throws FeatureError `invalidArgument`, `notGranted` */
  readonly plan: (host: HostSystem) => Ask<Answer> | Promise<Ask<Answer>>;
}

type Call = Caller & {
  readonly cancelled: boolean;
  once(event: 'cancelled', listener: () => void): unknown;
};

/** Parts of a {@link HostCallGate}. */
export interface HostCallGateParts {
  readonly host: HostSystem;
  readonly connections: Pick<Connections, 'clientOf' | 'ownerOf'>;
  /** Those under way, each of which may cost a walk through tables, or processes; more wait. */
  readonly calls: Shares;
  /** Records a decision. A throw or a rejection refuses the call. */
  readonly audit: (decision: HostDecision, client?: string) => Promise<void> | undefined;
}

/** Answers calls about the host: bounded, audited before they are made, and never with more than an error. */
export class HostCallGate {
  #lastChange: Promise<unknown> = Promise.resolve();
  readonly #parts: HostCallGateParts;

  constructor(parts: HostCallGateParts) {
    this.#parts = parts;
  }

  answer<Answer>(call: Call, respond: sendUnaryData<Answer>, hostCall: HostCall<Answer>): void {
    const { calls, connections } = this.#parts;
    const turn = new Promise<Claim>((granted, cancelled) => {
      const giveUp = calls.wait(connections.clientOf(call), granted);
      call.once('cancelled', () => {
        giveUp();
        cancelled(new Error('the client has cancelled the call'));
      });
    });
    const answer = turn.then((claim) => this.#make(call, hostCall).finally(() => claim.release()));
    respondWith(respond, answer);
  }

  #make<Answer>(call: Call, hostCall: HostCall<Answer>): Promise<Answer> {
    if (hostCall.changes !== true) return this.#judgeAndAsk(call, hostCall);
    const turn = this.#lastChange.then(() => {
      // The client may have left while others were served.
      if (!call.cancelled) return this.#judgeAndAsk(call, hostCall);
      const error = new Error('the client has cancelled the call');
      void this.#record(call, hostCall, 'failed', error);
      throw error;
    });
    this.#lastChange = turn.catch(() => undefined);
    return turn;
  }

  async #judgeAndAsk<Answer>(call: Call, hostCall: HostCall<Answer>): Promise<Answer> {
    let ask: Ask<Answer>;
    try {
      ask = await hostCall.plan(this.#parts.host);
    } catch (error) {
      await this.#record(call, hostCall, 'refused', error);
      throw error;
    }
    try {
      await this.#record(call, hostCall, 'allowed');
      return await ask(this.#parts.host);
    } catch (error) {
      const verdict = isNotRecorded(error) ? 'refused' : 'failed';
      await this.#record(call, hostCall, verdict, error);
      throw error;
    }
  }

  #record(
    call: Call,
    { action, subject }: Pick<HostCall<unknown>, 'action' | 'subject'>,
    verdict: 'allowed' | 'refused' | 'failed',
    error?: unknown,
  ): Promise<void> | undefined {
    const { id, label, client } = this.#parts.connections.ownerOf(call);
    const decision: HostDecision = {
      action,
      verdict,
      requester: id,
      ...(label !== undefined && { clientSays: label }),
      client: client?.description ?? {},
      subject: subject.slice(0, AUDITED).map((text) => text.slice(0, AUDITED)),
      subjectCount: subject.length,
      ...(verdict !== 'allowed' && { code: codeOf(error) }),
    };
    return this.#parts.audit(decision, client?.key);
  }
}

function codeOf(error: unknown): DecidingCode {
  if (isNotRecorded(error)) return 'auditUnavailable';
  return hostSystemErrorCode(error) ?? 'unknown';
}

function isNotRecorded(error: unknown): boolean {
  return error instanceof FeatureError && error.code === 'auditUnavailable';
}
