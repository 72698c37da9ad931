import { TunnelError, type TunnelErrorCode } from '@wins/tcp-tunnel';
import type { Fields } from './client-log.js';

const HERE: ReadonlySet<TunnelErrorCode> = new Set(['tooManyStreams', 'listenFailed'] as const);
const NOT_REACHED: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  dialRefused: 'nothing listens there',
  dialTimeout: 'no answer in time',
};

export class Refusals {
  readonly #said = new Set<string>();
  readonly #say: (text: string, fields: Fields) => void;

  constructor(say: (text: string, fields: Fields) => void) {
    this.#say = say;
  }

  /** Call it for each new tunnel, because the config may have changed. */
  forget(): void {
    this.#said.clear();
  }

  look(port: number, error: unknown, protocol: 'TCP' | 'UDP' = 'TCP'): void {
    if (!(error instanceof TunnelError)) return;
    const name = protocol === 'TCP' ? `host port ${port}` : `host UDP port ${port}`;
    const key = protocol === 'TCP' ? 'proxyPorts' : 'proxyUdpPorts';
    const text = explain(name, key, error);
    const { code, rule } = error;
    if (text !== undefined) this.#once(`host ${name}`, text, { hostPort: port, code, rule });
  }

  /** Reports a connection that was refused here, by this client. Ignores other errors, such as a lost tunnel, which the proxy reports elsewhere. */
  lookHere(port: number, error: unknown): void {
    if (!(error instanceof TunnelError) || !HERE.has(error.code)) return;
    const text = `refused a connection to port ${port}: ${error.message}`;
    this.#once(`here ${port}`, text, { containerPort: port, code: error.code });
  }

  #once(subject: string, text: string, fields: Fields): void {
    if (this.#said.has(subject)) return;
    this.#said.add(subject);
    this.#say(text, fields);
  }
}

function explain(name: string, key: string, { code, rule, peerText, message }: TunnelError) {
  switch (code) {
    case 'dialRefused':
    case 'dialTimeout':
    case 'dialFailed': {
      const reason = NOT_REACHED[code] ?? peerText ?? 'the connection failed';
      return `cannot reach ${name}: ${reason}; start the program that serves it`;
    }
    case 'connectRefused': {
      if (rule === 'port-not-listed')
        return `the daemon refuses ${name}: add it to white_list.${key} of its config`;
      const found = rule ?? peerText;
      return `the daemon refuses ${name}${found === undefined ? '' : `: ${found}`}; see its log`;
    }
    case 'noDatagrams':
      return `cannot reach ${name}: ${message}`;
    default:
      return undefined;
  }
}
