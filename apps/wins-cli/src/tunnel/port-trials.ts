import { TunnelError, type ClientTunnel, type TunnelStream } from '@wins/tcp-tunnel';
import { setTimeout as delay } from 'node:timers/promises';

/** A daemon handles a Connect within milliseconds, or within seconds on a busy host. */
const VERDICT_MS = 5_000;
/** Maximum number of concurrent trials; each has its own session. */
const MOST_TRIALS = 16;

export interface PortTrialsOptions {
  /** Resolves once the daemon has answered. */
  readonly open: () => Promise<ClientTunnel>;
  /** Called when the daemon does not allow a port. It must not throw. */
  readonly onRefused: (port: number, error: TunnelError) => void;
}

type Verdicts = Map<number, 'allowed' | 'refused' | Promise<void>>;

/**
 * A Go daemon ends the whole session when a client requests a forbidden port. Therefore the first connection to each port gets a session of
 * its own. The verdict on a port holds as long as the daemon runs, because a Go daemon reads its config only at its start.
 */
export class PortTrials {
  readonly #options: PortTrialsOptions;
  readonly #tunnels = new Set<ClientTunnel>();
  #verdicts: Verdicts = new Map();
  #openCount = 0;
  #isClosed = false;

  constructor(options: PortTrialsOptions) {
    this.#options = options;
  }

  /** Call it for each new tunnel, which may reach another daemon process. */
  forget(): void {
    this.#verdicts = new Map();
  }

  /** @throws {TunnelError} `connectRefused`; `tooManyStreams` at the maximum number of trials; any error from opening a tunnel. */
  connect(shared: ClientTunnel, port: number): TunnelStream | Promise<TunnelStream> {
    const verdict = this.#verdicts.get(port);
    if (verdict === 'allowed') return shared.connect(port);
    if (verdict === 'refused') throw refusal(port);
    // Wait for the running trial, and follow its verdict. If it ended without a verdict, try the port again.
    if (verdict !== undefined) return verdict.then(() => this.connect(shared, port));
    if (this.#openCount >= MOST_TRIALS) {
      const message = `cannot probe port ${port}: ${this.#openCount} probes are running (limit ${MOST_TRIALS})`;
      throw new TunnelError('tooManyStreams', message, { port });
    }
    return this.#try(shared, port);
  }

  async drain(): Promise<void> {
    await Promise.all([...this.#tunnels].map((tunnel) => tunnel.drain()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#tunnels].map((tunnel) => tunnel.close()));
  }

  async #try(shared: ClientTunnel, port: number): Promise<TunnelStream> {
    const verdicts = this.#verdicts;
    let settle: () => void = () => undefined;
    verdicts.set(port, new Promise((resolve) => (settle = resolve)));
    this.#openCount += 1;
    const end = (verdict?: 'allowed' | 'refused'): void => {
      this.#openCount -= 1;
      if (verdict === undefined) verdicts.delete(port);
      else verdicts.set(port, verdict);
      settle();
    };
    try {
      const tunnel = await this.#open();
      const stream = tunnel.connect(port);
      void this.#judge(tunnel, shared).then((verdict) => {
        end(verdict);
        if (verdict === 'refused') this.#options.onRefused(port, refusal(port));
        if (verdict !== 'allowed' || stream.destroyed) void tunnel.close();
        else stream.once('close', () => void tunnel.close());
      });
      return stream;
    } catch (error) {
      end();
      throw error;
    }
  }

  async #open(): Promise<ClientTunnel> {
    const tunnel = await this.#options.open();
    this.#tunnels.add(tunnel);
    void tunnel.closed.then(() => this.#tunnels.delete(tunnel));
    if (this.#isClosed) await tunnel.close();
    return tunnel;
  }

  /** Returns undefined if the shared session ends before it answers. */
  async #judge(
    tunnel: ClientTunnel,
    shared: ClientTunnel,
  ): Promise<'allowed' | 'refused' | undefined> {
    const late = new AbortController();
    const { signal } = late;
    const silence = delay(VERDICT_MS, false, { signal }).catch(() => false);
    const isServed = await Promise.race([tunnel.probe(), silence]);
    late.abort();
    if (isServed) return 'allowed';
    return (await shared.probe()) ? 'refused' : undefined;
  }
}

function refusal(port: number): TunnelError {
  const message = `the daemon does not allow host port ${port}`;
  const peerText =
    'it ended the session that requested it. Add the port to white_list.proxyPorts of its config and restart that daemon';
  return new TunnelError('connectRefused', message, { port, peerText });
}
