import { Serial, type HostSystem } from '@wins/base';
import type { sendUnaryData } from '@grpc/grpc-js';
import type { Claim, Shares } from '../admission/shares.js';
import type { DecidedAction, DecidingCode, Decision } from '../audit/decision.js';
import { FeatureError, hostSystemErrorCode } from '../feature-error.js';
import type { Caller, Connections } from './connections.js';
import { respondWith } from './rpc-errors.js';

const AUDITED = 64;
/** In characters; each text counts as 64 more. No call that would be accepted has half as much. */
const LARGEST_SUBJECT = 64 * 1024;
const TEXT_COST = 64;

/** The verdict `failed` means that the system could not do an allowed call, or that the client cancelled a queued call. */
export type HostDecision = Decision & {
  /** Name that the client gives itself; not verified. */
  readonly clientSays?: string;
  /** The first 64 addresses, or a name. Each text is cut at 64 characters. */
  readonly subject: readonly string[];
  readonly subjectCount: number;
};

export type HostAction = Extract<
  DecidedAction,
  'getVersion' | 'getAdapter' | 'getHnsNetwork' | 'listRoutes' | 'addRoutes' | 'removeRoutes'
>;

type Ask<Answer> = (host: HostSystem) => Promise<Answer>;

export interface HostCall<Answer> {
  readonly action: HostAction;
  readonly subject: readonly string[];
  /** True: the call changes the host, and waits for earlier such calls. Default: false. */
  readonly changes?: boolean;
  /** Validates the request and returns the system call. @throws FeatureError `invalidArgument`, `notGranted` */
  readonly plan: (host: HostSystem) => Ask<Answer> | Promise<Ask<Answer>>;
}

type Call = Caller & {
  readonly cancelled: boolean;
  once(event: 'cancelled', listener: () => void): unknown;
};

export interface HostCallGateParts {
  readonly host: HostSystem;
  readonly connections: Pick<Connections, 'clientOf' | 'ownerOf'>;
  /** Limits running calls per client, because each may scan system tables or need extra processes; further calls are queued. */
  readonly calls: Shares;
  /** Records a decision. If this function throws, or if its promise rejects, the call is refused. */
  readonly audit: (decision: HostDecision, client?: string) => Promise<void> | undefined;
}

/** Limits host calls per client, and records each call before it runs. */
export class HostCallGate {
  readonly #changes = new Serial();
  readonly #parts: HostCallGateParts;

  constructor(parts: HostCallGateParts) {
    this.#parts = parts;
  }

  answer<Answer>(call: Call, respond: sendUnaryData<Answer>, hostCall: HostCall<Answer>): void {
    respondWith(respond, this.#answer(call, hostCall));
  }

  async #answer<Answer>(call: Call, hostCall: HostCall<Answer>): Promise<Answer> {
    // A waiting call keeps its request.
    if (isLarge(hostCall.subject)) return this.#refuse(call, hostCall, tooLarge());
    const { calls, connections } = this.#parts;
    const claim = await new Promise<Claim>((granted, cancelled) => {
      const giveUp = calls.wait(connections.clientOf(call), granted);
      call.once('cancelled', () => {
        giveUp();
        cancelled(new Error('the client has cancelled the call'));
      });
    });
    try {
      return await this.#make(call, hostCall);
    } finally {
      claim.release();
    }
  }

  #make<Answer>(call: Call, hostCall: HostCall<Answer>): Promise<Answer> {
    if (hostCall.changes !== true) return this.#judgeAndAsk(call, hostCall);
    return this.#changes.run(() => {
      // The client may have left while this call was queued.
      if (!call.cancelled) return this.#judgeAndAsk(call, hostCall);
      const error = new Error('the client has cancelled the call');
      void this.#record(call, hostCall, 'failed', error);
      throw error;
    });
  }

  async #judgeAndAsk<Answer>(call: Call, hostCall: HostCall<Answer>): Promise<Answer> {
    let ask: Ask<Answer>;
    try {
      ask = await hostCall.plan(this.#parts.host);
    } catch (error) {
      return this.#refuse(call, hostCall, error);
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

  async #refuse(call: Call, hostCall: HostCall<unknown>, error: unknown): Promise<never> {
    await this.#record(call, hostCall, 'refused', error);
    throw error;
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

function isLarge(subject: readonly string[]): boolean {
  let size = 0;
  for (const text of subject) {
    size += text.length + TEXT_COST;
    if (size > LARGEST_SUBJECT) return true;
  }
  return false;
}

function tooLarge(): FeatureError {
  const message = 'cannot serve this call: it has too many addresses, or too long a name';
  return new FeatureError('invalidArgument', message);
}

function codeOf(error: unknown): DecidingCode {
  if (isNotRecorded(error)) return 'auditUnavailable';
  return hostSystemErrorCode(error) ?? 'unknown';
}

function isNotRecorded(error: unknown): boolean {
  return error instanceof FeatureError && error.code === 'auditUnavailable';
}
