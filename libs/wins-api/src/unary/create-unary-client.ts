import type { MethodDefinition } from '@grpc/grpc-js';
import { checkOptions, CLIENT_NAME_METADATA_KEY } from '../client-options.js';
import { WinsClientError } from '../client-error.js';
import type { WinsClientErrorCode } from '../client-error.js';
import { ApplicationServiceService } from '../gen/application.js';
import { HnsServiceService } from '../gen/hns.js';
import { HostServiceService } from '../gen/host.js';
import { NetworkServiceService } from '../gen/network.js';
import { ProcessServiceService } from '../gen/process.js';
import { RouteServiceService } from '../gen/route.js';
import { RunStatsService } from '../gen/run-stats.js';
import { OpenCalls } from '../open-calls.js';
import type { CallDone } from '../open-calls.js';
import { outcomeError } from './outcome-error.js';
import { UnaryCalls } from '../unary-calls.js';
import type { UnaryTransport } from './unary-transport.js';
import type { CallOptions, UnaryClient, WinsClientOptions } from '../wins-client.js';

/** How long `close` lets a connection end in good order before it cuts it. */
const CLOSE_GRACE_MS = 1000;

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

/** How to reach a daemon by a transport; `address` only names it. */
export interface UnaryClientOptions extends Omit<WinsClientOptions, 'dial'> {
  /** Carries the calls, and belongs to the client from now on. */
  readonly transport: UnaryTransport;
}

class TransportClient extends UnaryCalls {
  readonly #transport: UnaryTransport;
  readonly #calls: OpenCalls;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #answerTimeoutMs: number | undefined;
  #closing: Promise<void> | undefined;

  constructor({ transport, ...options }: UnaryClientOptions) {
    const { address, connectTimeoutMs, clientName } = checkOptions(options);
    super(address);
    this.#transport = transport;
    this.#headers = clientName === '' ? {} : { [CLIENT_NAME_METADATA_KEY]: clientName };
    this.#answerTimeoutMs = options.answerTimeoutMs;
    const { onCallEvent } = options;
    this.#calls = new OpenCalls({ connection: transport, address, connectTimeoutMs, onCallEvent });
  }

  override async unary<Request, Answer>(
    name: string,
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Answer>,
    request: Request,
    { signal }: CallOptions,
  ): Promise<Answer> {
    const call = { method: name, address: this.address };
    const message = orFail('invalidRequest', call, () => requestSerialize(request));
    const asked = { path, headers: this.#headers, message, isRepeatable: REPEATABLE.has(path) };
    const answer = await this.#calls.begin(
      name,
      signal,
      (done: CallDone<Buffer>) => ({
        cancel: this.#transport.call(asked, (outcome) =>
          outcome.kind === 'answered'
            ? done(null, outcome.message)
            : done(outcomeError(outcome, call)),
        ),
      }),
      this.#answerTimeoutMs,
    ).result;
    return orFail('internal', call, () => responseDeserialize(answer));
  }

  override close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#calls.close();
      await this.#transport.close(this.#calls.foundSilence ? 0 : CLOSE_GRACE_MS);
    })();
    return this.#closing;
  }
}

/** Encodes or decodes. */
function orFail<T>(
  code: WinsClientErrorCode,
  call: { readonly method: string; readonly address: string },
  convert: () => T,
): T {
  try {
    return convert();
  } catch (cause) {
    const details = cause instanceof Error ? cause.message : 'found a message that is none';
    throw new WinsClientError(code, { ...call, details, cause });
  }
}

/**
 * Makes a client for the calls that have one answer, without grpc-js: a program that makes one call starts faster. Nothing is
 * opened before the first call; the caller closes the client.
 *
 * @throws WinsClientError `invalidRequest` when an option makes no sense
 */
export function createUnaryClient(options: UnaryClientOptions): UnaryClient {
  return new TransportClient(options);
}
