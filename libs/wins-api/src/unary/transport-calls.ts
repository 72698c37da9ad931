import type { MethodDefinition } from '@grpc/grpc-js';
import { checkOptions, CLIENT_NAME_METADATA_KEY } from '../client-options.js';
import { WinsClientError } from '../client-error.js';
import type { WinsClientErrorCode } from '../client-error.js';
import { OpenCalls } from '../open-calls.js';
import type { CallDone } from '../open-calls.js';
import { outcomeError } from './outcome-error.js';
import type { UnaryTransport } from './unary-transport.js';
import type { CallOptions, WinsClientOptions } from '../wins-client.js';

/** How long `close` lets a connection end in good order before it cuts it. */
const CLOSE_GRACE_MS = 1000;

/** How to reach a daemon by a transport; `address` only names it. */
export interface UnaryClientOptions extends Omit<WinsClientOptions, 'dial'> {
  /** Carries the calls, and belongs to the client from now on. */
  readonly transport: UnaryTransport;
}

/** A method whose definition says whether it may be called twice. */
export interface UnaryMethod<Request, Answer> {
  readonly definition: MethodDefinition<Request, Answer>;
  /** It changes nothing. Any other is sent to a daemon that has spoken, and once. */
  readonly isRepeatable: boolean;
}

/** Calls with one answer on a transport. It imports no message, so that a client of one call has its messages alone. */
export class TransportCalls {
  readonly address: string;
  readonly #transport: UnaryTransport;
  readonly #calls: OpenCalls;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #answerTimeoutMs: number | undefined;
  #closing: Promise<void> | undefined;

  /** @throws WinsClientError `invalidRequest` when an option makes no sense */
  constructor({ transport, ...options }: UnaryClientOptions) {
    const { address, connectTimeoutMs, clientName } = checkOptions(options);
    this.address = address;
    this.#transport = transport;
    this.#headers = clientName === '' ? {} : { [CLIENT_NAME_METADATA_KEY]: clientName };
    this.#answerTimeoutMs = options.answerTimeoutMs;
    const { onCallEvent } = options;
    this.#calls = new OpenCalls({ connection: transport, address, connectTimeoutMs, onCallEvent });
  }

  async unary<Request, Answer>(
    name: string,
    { definition, isRepeatable }: UnaryMethod<Request, Answer>,
    request: Request,
    { signal }: CallOptions,
  ): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize } = definition;
    const call = { method: name, address: this.address };
    const message = orFail('invalidRequest', call, () => requestSerialize(request));
    const asked = { path, headers: this.#headers, message, isRepeatable };
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

  close(): Promise<void> {
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
