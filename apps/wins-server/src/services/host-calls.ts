import { status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import type { Connections } from '../connections.js';
import { hostSystemErrorCode, type HostSystemErrorCode } from '../host-system/host-system-error.js';
import type { HostSystem } from '../host-system/host-system.js';
import { rpcError, toRpcError } from '../rpc-errors.js';

/** Calls about the host that are under way at the same time. Each may cost a walk through tables, or processes. */
const MAX_CALLS = 32;

const MAX_AUDITED_SUBJECTS = 64;
const MAX_AUDITED_SUBJECT = 64;

/** One decision about a host call, for the audit log; texts of the client are cut at 64 characters. */
export interface HostCallRecord {
  readonly action: HostAction;
  /** `failed`: it was allowed, and the system could not do it. */
  readonly verdict: 'allowed' | 'refused' | 'failed';
  /** The connection that asked. */
  readonly requester: string;
  readonly requesterLabel?: string;
  /** What it is about: the first 64 addresses, or a name. */
  readonly subject: readonly string[];
  readonly subjectCount: number;
  readonly code?: HostSystemErrorCode;
}

/** What can be asked of the host. */
export type HostAction =
  'getVersion' | 'getAdapter' | 'getHnsNetwork' | 'listRoutes' | 'addRoutes' | 'removeRoutes';

/** A call as one of the services describes it. */
export interface HostCall<Answer> {
  readonly action: HostAction;
  /** The client's own words for what the call is about. */
  readonly subject: readonly string[];
  /** Whether it changes the host: one at a time does, in the order of their coming. Default: it does not. */
  readonly changes?: boolean;
  /** Checks the request and says what to ask of the system. @throws HostSystemError `invalid-argument` */
  readonly plan: () => (host: HostSystem) => Promise<Answer>;
}

/** Answers calls about the host: bounded, audited before they are made, and never with more than an error. */
export class HostCalls {
  private open = 0;
  private lastChange: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly host: HostSystem,
    private readonly connections: Connections,
    private readonly audit: (record: HostCallRecord) => void,
  ) {}

  answer<Request, Answer>(
    call: ServerUnaryCall<Request, Answer>,
    respond: sendUnaryData<Answer>,
    hostCall: HostCall<Answer>,
  ): void {
    if (this.open >= MAX_CALLS) {
      const details = `${MAX_CALLS} calls about the host are under way; wanted fewer at the same time`;
      respond(rpcError(status.RESOURCE_EXHAUSTED, 'tooManyHostCalls', details));
      return;
    }
    this.open += 1;
    this.make(call, hostCall)
      .finally(() => (this.open -= 1))
      .then(
        (answer) => respond(null, answer),
        (error: unknown) => respond(toRpcError(error)),
      );
  }

  private async make<Request, Answer>(
    call: ServerUnaryCall<Request, Answer>,
    hostCall: HostCall<Answer>,
  ): Promise<Answer> {
    let ask: (host: HostSystem) => Promise<Answer>;
    try {
      ask = hostCall.plan();
    } catch (error) {
      this.record(call, hostCall, 'refused', error);
      throw error;
    }
    const asked = (): Promise<Answer> => {
      this.record(call, hostCall, 'allowed');
      return ask(this.host);
    };
    try {
      return await (hostCall.changes === true ? this.inTurn(call, asked) : asked());
    } catch (error) {
      this.record(call, hostCall, 'failed', error);
      throw error;
    }
  }

  /** Whoever left while others were served is not served any more. */
  private inTurn<Request, Answer>(
    call: ServerUnaryCall<Request, Answer>,
    task: () => Promise<Answer>,
  ): Promise<Answer> {
    const turn = this.lastChange.then(() => {
      if (call.cancelled) throw new Error('given up: the client has cancelled the call');
      return task();
    });
    this.lastChange = turn.catch(() => undefined);
    return turn;
  }

  private record<Request, Answer>(
    call: ServerUnaryCall<Request, Answer>,
    { action, subject }: HostCall<Answer>,
    verdict: HostCallRecord['verdict'],
    error?: unknown,
  ): void {
    const { id, label } = this.connections.ownerOf(call);
    const code = verdict === 'allowed' ? undefined : (hostSystemErrorCode(error) ?? 'unknown');
    this.audit({
      action,
      verdict,
      requester: id,
      ...(label !== undefined && { requesterLabel: label }),
      subject: subject
        .slice(0, MAX_AUDITED_SUBJECTS)
        .map((text) => text.slice(0, MAX_AUDITED_SUBJECT)),
      subjectCount: subject.length,
      ...(code !== undefined && { code }),
    });
  }
}
