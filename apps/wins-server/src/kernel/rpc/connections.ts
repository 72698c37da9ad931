import { status } from '@grpc/grpc-js';
import {
  SegmentPool,
  serveHttp2Connection,
  type EndReason,
  type Http2Connection,
  type ServedStream,
} from '@wins/http2-connection';
import type { ProcessOwner } from '@wins/process-manager';
import { parseTraceparent, serveInTrace, type CurrentTrace } from './trace-context.js';
import { CLIENT_NAME_METADATA_KEY, ERROR_METADATA_KEY } from '@wins/wins-api/contract';
import type { Socket } from 'node:net';
import { type ClientDescription, type ClientIdentity, EVERYBODY } from '@wins/base';
import { clientLabel } from '../admission/client-label.js';
import type { ClientScheduler } from '../admission/client-scheduler.js';
import type { Slot } from '../admission/slots.js';
import type { Claim, LimitReason, Shares } from '../admission/shares.js';
import { repeatLog } from '../admission/repeat-counter.js';
import { ANSWER_HEADERS, type CallServer } from './call-server.js';
import type { Logger } from '../log/logger.js';
import type { DaemonEvents } from '../daemon-events.js';
import { RequestTrace } from './request-trace.js';

export type PipeResources = Readonly<
  Record<'calls' | 'requestOctets' | 'answerOctets' | CallResource, Shares>
>;

type CallResource = 'waits' | 'watches' | 'reflections';
type LongCall = readonly [CallResource, code: string];
const REFLECTION: LongCall = ['reflections', 'tooManyReflections'];

/** Long calls, with the resource that each claims, and the error code of a refusal. */
const LONG_CALLS: ReadonlyMap<string, LongCall> = new Map<string, LongCall>([
  ['/wins.ProcessService/Wait', ['waits', 'tooManyListeners']],
  ['/wins.Runs/Read', ['waits', 'tooManyListeners']],
  ['/grpc.health.v1.Health/Watch', ['watches', 'tooManyWatchers']],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', REFLECTION],
  ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', REFLECTION],
]);

export interface ConnectionsOptions {
  readonly calls: () => CallServer;
  /** Calls received before this promise resolves are queued. */
  readonly opened: Promise<void>;
  readonly logger: Logger;
  readonly events: DaemonEvents;
  readonly scheduler: ClientScheduler;
  readonly pipe: 'main' | 'admin';
  readonly resources: PipeResources;
  readonly currentTrace: CurrentTrace;
  /** Receives the size of each read before it is processed. */
  readonly read?: ((octets: number) => void) | undefined;
}

/** Prefixes of connection names, such as `pipe:7`. */
const NAMES: Readonly<Record<ConnectionsOptions['pipe'], string>> = {
  main: 'pipe',
  admin: 'admin',
};

/** Reasons for an end that are no fault of the client. */
const ORDINARY_ENDS: ReadonlySet<EndReason> = new Set(['clientGone', 'closed', 'idle']);

/** Part of a gRPC call that identifies its caller. */
export interface Caller {
  getPeer(): string;
  readonly metadata: { get(key: string): readonly (string | Buffer)[] };
}

export interface OpenConnection {
  readonly name: string;
  readonly client: ClientDescription;
  readonly openedAt: Date;
  readonly calls: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

interface Admitted {
  readonly client: ClientIdentity;
  readonly openedAtMs: number;
  readonly socket: Socket;
  readonly disconnected: AbortController;
  calls: number;
}

/** Open connections of one pipe. A run belongs to the connection that started it, so no other client can use the run by guessing its name. */
export class Connections {
  readonly #admitted = new Map<string, Admitted>();
  readonly #served = new Set<Http2Connection>();
  readonly #segments = new SegmentPool();
  readonly #faults: ReturnType<typeof repeatLog>;
  readonly #trace: RequestTrace;
  #lastId = 0;
  #isClosing = false;
  readonly #options: ConnectionsOptions;

  constructor(options: ConnectionsOptions) {
    const { logger } = options;
    this.#options = options;
    this.#faults = repeatLog(logger, 'info', 'connection ended');
    this.#trace = new RequestTrace(logger);
  }

  admit(socket: Socket, client: ClientIdentity = EVERYBODY, slot?: Slot): void {
    if (this.#isClosing) {
      socket.destroy();
      return;
    }
    this.#lastId += 1;
    const remotePort = this.#lastId;
    const { calls, opened, logger, events, scheduler, read, pipe, resources, currentTrace } =
      this.#options;
    const remoteAddress = NAMES[pipe];
    const peer = `${remoteAddress}:${remotePort}`;
    const disconnected = new AbortController();
    const admitted = { client, openedAtMs: Date.now(), socket, disconnected, calls: 0 };
    this.#admitted.set(peer, admitted);
    const acceptedAt = performance.now();
    this.#trace.accepted(peer, client);
    this.#tellConnection('opened');
    const failed = (err: unknown): void =>
      logger.error({ err, peer }, 'a call failed unexpectedly; its connection is closed');
    const connection = serveHttp2Connection(socket, {
      peer: { remoteAddress, remotePort },
      inbound: { open: (end) => resources.requestOctets.open(client, end) },
      outbound: { open: (end) => resources.answerOctets.open(client, end) },
      segments: this.#segments,
      answerHeaders: ANSWER_HEADERS,
      hasOneRequest: (path) => calls().hasOneRequest(path),
      onGreeted: () => {
        this.#trace.greeted(peer, acceptedAt);
        slot?.settle();
      },
      onStream: (stream, headers) => {
        const path = headers[':path'] ?? '';
        scheduler.nameTurn(clientLabel(path));
        const trace = parseTraceparent(headers['traceparent']);
        this.#trace.called(peer, stream, path, trace);
        const sinceMs = performance.now();
        const claims = this.#claim(client, stream, path);
        stream.once('close', () => {
          if (events.isCounted) this.#tellCall(stream, path, sinceMs);
          if (claims === undefined) return;
          for (const claim of claims) claim.release();
          admitted.calls -= 1;
          slot?.end();
        });
        if (claims === undefined) return;
        // `close` would be too late: the next request in the octets just read may need these claims.
        stream.once('aborted', () => claims.forEach((claim) => claim.release()));
        slot?.begin();
        admitted.calls += 1;
        void opened.then(() => {
          if (stream.destroyed) return;
          try {
            const serve = () => calls().serve(stream, headers);
            if (trace === undefined) serve();
            else serveInTrace(trace, currentTrace, stream, serve);
          } catch (error) {
            failed(error);
            void connection.close();
          }
        });
      },
      onFailure: failed,
      onEnd: (reason) => {
        this.#admitted.delete(peer);
        disconnected.abort();
        this.#trace.ended(peer, socket, acceptedAt, reason);
        this.#tellConnection('closed');
        if (ORDINARY_ENDS.has(reason)) return;
        this.#faults.add(`${reason} ${client.key}`, { peer, client: client.description, reason });
      },
    });
    if (read) socket.prependListener('data', (octets: Buffer) => read(octets.length));
    scheduler.watch(socket, { client, what: 'gRPC' });
    this.#served.add(connection);
    void connection.closed.then(() => this.#served.delete(connection));
  }

  get size(): number {
    return this.#served.size;
  }

  list(): readonly OpenConnection[] {
    return [...this.#admitted].map(([name, { client, openedAtMs, socket, calls }]) => ({
      name,
      client: client.description,
      openedAt: new Date(openedAtMs),
      calls,
      receivedBytes: socket.bytesRead,
      sentBytes: socket.bytesWritten,
    }));
  }

  /** Refuses new calls; cuts pending ones after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#served].map((connection) => connection.close({ graceMs })));
    this.#faults[Symbol.dispose]();
  }

  clientOf(caller: Caller): ClientIdentity {
    return this.clientNamed(caller.getPeer()) ?? EVERYBODY;
  }

  clientNamed(name: string): ClientIdentity | undefined {
    return this.#admitted.get(name)?.client;
  }

  /** Returns the caller as an owner of processes. A process that is started for a closed connection ends at once. */
  ownerOf(caller: Caller): ProcessOwner {
    const id = caller.getPeer();
    const client = this.clientOf(caller);
    const { key, description, names, isAdministrator, isEverybody } = client;
    const hasQuota = !isAdministrator && !isEverybody;
    const [said] = caller.metadata.get(CLIENT_NAME_METADATA_KEY);
    return {
      id,
      label: clientLabel(String(said ?? '')),
      // Without a quota, each connection counts as a client.
      client: { key: hasQuota ? key : id, description: { ...description }, names },
      disconnected: this.#admitted.get(id)?.disconnected.signal ?? AbortSignal.abort(),
    };
  }

  /** Claims the resources of a call. If a limit is reached, refuses the call and returns undefined. */
  #claim(client: ClientIdentity, stream: ServedStream, path: string): readonly Claim[] | undefined {
    const { resources } = this.#options;
    const claims: Claim[] = [];
    const take = (shares: Shares, code?: string): boolean => {
      const { what, total } = shares.row;
      const headers = code === undefined ? {} : { [ERROR_METADATA_KEY]: code };
      const end = (why: LimitReason): void => {
        const limit =
          why === 'full'
            ? `the limit of ${total} ${what} is reached`
            : `its client has used its share of ${what}`;
        const message = `cannot serve this call: ${limit}`;
        stream.refuse({ status: status.RESOURCE_EXHAUSTED, message, headers });
      };
      const claim = shares.take(client, { end });
      if (claim !== undefined) claims.push(claim);
      else for (const each of claims) each.release();
      return claim !== undefined;
    };
    const long = LONG_CALLS.get(path);
    const isTaken =
      take(resources.calls) && (long === undefined || take(resources[long[0]], long[1]));
    return isTaken ? claims : undefined;
  }

  #tellConnection(phase: 'opened' | 'closed'): void {
    const { events, pipe } = this.#options;
    if (events.isCounted) events.publish({ type: 'connection', pipe, phase });
  }

  #tellCall(stream: ServedStream, path: string, sinceMs: number): void {
    const answered = stream.lastHeaders?.['grpc-status'];
    const code = answered === undefined ? undefined : Number(answered);
    const [method, ms] = [this.#options.calls().methodOf(path), performance.now() - sinceMs];
    this.#options.events.publish({ type: 'call', method, code, ms });
  }
}
