import { TunnelError, type TunnelErrorCode } from '@wins/tcp-tunnel';

const LIMITS: ReadonlySet<TunnelErrorCode> = new Set(['tooManyStreams', 'listenFailed']);
/** Why the daemon reached nothing on its port. */
const NOT_REACHED: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  dialRefused: 'nothing listens there',
  dialTimeout: 'no answer in time',
};

/** Says once for each tunnel and port why connections to it fail. */
export class Refusals {
  readonly #said = new Set<string>();
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Another tunnel may lead to another config: what it refuses is said again. */
  forget(): void {
    this.#said.clear();
  }

  /** Looks whether an error of a stream says that the daemon did not open it. */
  look(port: number, error: Error): void {
    const text = error instanceof TunnelError ? explain(port, error) : undefined;
    if (text !== undefined) this.#once(`host ${port}`, text);
  }

  /** Looks whether a connection to a published port failed by a limit here. That there is no tunnel is told elsewhere. */
  lookHere(port: number, error: unknown): void {
    if (!(error instanceof TunnelError) || !LIMITS.has(error.code)) return;
    this.#once(`here ${port}`, `a connection to port ${port} was refused here: ${error.message}`);
  }

  #once(subject: string, text: string): void {
    if (this.#said.has(subject)) return;
    this.#said.add(subject);
    this.#say(text);
  }
}

function explain(port: number, { code, rule, peerText }: TunnelError): string | undefined {
  switch (code) {
    case 'dialRefused':
    case 'dialTimeout':
    case 'dialFailed': {
      const reason = NOT_REACHED[code] ?? peerText ?? 'the connection failed';
      return `host port ${port} cannot be reached: ${reason}; start the program that serves it`;
    }
    case 'connectRefused': {
      if (rule === 'port-allowed') {
        return `the daemon refuses host port ${port}: add it to white_list.proxyPorts of its config`;
      }
      const found = rule ?? peerText;
      return `the daemon refuses host port ${port}${found === undefined ? '' : `: ${found}`}; its log says more`;
    }
    default:
      return undefined;
  }
}
