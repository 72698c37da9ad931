import { TunnelError, type TunnelErrorCode } from '@wins/tcp-tunnel';

const REFUSED = /connect not allowed(: .*)?$/;
const NOT_LISTED = /connect not allowed: port-allowed$/;
const LIMITS: ReadonlySet<TunnelErrorCode> = new Set(['too-many-channels', 'listen-failed']);
const NOT_REACHED = /dialled the loopback on port \d+: (.*)$/;

/** Says once for each tunnel and port why connections to it fail. */
export class Refusals {
  readonly #told = new Set<string>();

  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Another tunnel may lead to another config: what it refuses is said again. */
  forget(): void {
    this.#told.clear();
  }

  /** Looks whether an error of a stream is the daemon's word about its port. */
  look(port: number, { message }: Error): void {
    const text = explain(port, message);
    if (text !== undefined) this.#once(`host ${port}`, text);
  }

  /** Looks whether a connection to a published port failed by a limit here. That there is no tunnel is told elsewhere. */
  lookHere(port: number, error: unknown): void {
    if (!(error instanceof TunnelError) || !LIMITS.has(error.code)) return;
    this.#once(`here ${port}`, `a connection to port ${port} was refused here: ${error.message}`);
  }

  #once(subject: string, text: string): void {
    if (this.#told.has(subject)) return;
    this.#told.add(subject);
    this.#say(text);
  }
}

function explain(port: number, message: string): string | undefined {
  const reason = NOT_REACHED.exec(message)?.[1];
  if (reason !== undefined) {
    return `host port ${port} cannot be reached: ${reason}; start the program that serves it`;
  }
  if (NOT_LISTED.test(message)) {
    return `the daemon refuses host port ${port}: add it to white_list.proxyPorts of its config`;
  }
  const refused = REFUSED.exec(message);
  if (refused === null) return undefined;
  return `the daemon refuses host port ${port}${refused[1] ?? ''}; its log says more`;
}
