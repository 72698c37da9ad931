import type { MethodDefinition } from '@grpc/grpc-js';
import { ApplicationServiceService } from '../gen/application.js';
import { HnsServiceService } from '../gen/hns.js';
import { HostServiceService } from '../gen/host.js';
import { NetworkServiceService } from '../gen/network.js';
import { ProcessServiceService } from '../gen/process.js';
import { RouteServiceService } from '../gen/route.js';
import { RunStatsService } from '../gen/run-stats.js';
import { UnaryCalls } from '../unary-calls.js';
import { TransportCalls, type UnaryClientOptions } from './transport-calls.js';
import type { CallOptions, UnaryClient } from '../wins-client.js';

/** Calls that change nothing, by their paths: they may be made twice. What is not here is sent to a daemon that has spoken, and once. */
const REPEATABLE: ReadonlySet<string> = new Set(
  [
    ApplicationServiceService.info,
    HnsServiceService.getNetwork,
    HostServiceService.getVersion,
    NetworkServiceService.get,
    ProcessServiceService.list,
    RouteServiceService.list,
    RunStatsService.stats,
  ].map(({ path }) => path),
);

class TransportClient extends UnaryCalls {
  readonly #calls: TransportCalls;

  constructor(calls: TransportCalls) {
    super(calls.address);
    this.#calls = calls;
  }

  override unary<Request, Answer>(
    name: string,
    definition: MethodDefinition<Request, Answer>,
    request: Request,
    options: CallOptions,
  ): Promise<Answer> {
    const isRepeatable = REPEATABLE.has(definition.path);
    return this.#calls.unary(name, { definition, isRepeatable }, request, options);
  }

  override close(): Promise<void> {
    return this.#calls.close();
  }
}

/**
 * Makes a client for the calls that have one answer, without grpc-js: a program that makes one call starts faster. Nothing is
 * opened before the first call; the caller closes the client.
 *
 * @throws WinsClientError `invalidRequest` when an option makes no sense
 */
export function createUnaryClient(options: UnaryClientOptions): UnaryClient {
  return new TransportClient(new TransportCalls(options));
}
