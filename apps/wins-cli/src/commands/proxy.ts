import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import {
  LocalAddresses,
  openTunnel,
  TunnelError,
  type TcpListener,
  type TunnelEnd,
  type UdpListener,
} from '@wins/tcp-tunnel';
import { EXIT, isUsageError, messageOf, UsageError } from '@wins/base';
import { isIP } from 'node:net';
import { ClientLog, type LogFormat } from '../client-log.js';
import { CommandError } from '../command-error.js';
import { listenForInterruptions } from '../interruptions.js';
import { splitListValue } from '../options/list-value.js';
import { pipeFailure } from '../daemon/trusted-pipe.js';
import { CONNECT_TIMEOUT_MS } from '../daemon/connect-daemon.js';
import { showProgress } from '../progress.js';
import { handshakeTimeout } from '../tunnel/handshake-failure.js';
import { openWebSocket, type TunnelPipe } from '../tunnel/open-web-socket.js';
import { parsePublished, type PublishedPort } from '../tunnel/publish-list.js';
import { assertNoLoop } from '../tunnel/assert-no-loop.js';
import { publishPort, publishUdpPort } from '../tunnel/publish-port.js';
import type { HostPort } from './refused-ports.js';
import { ReadyFile } from '../tunnel/ready-file.js';
import { Refusals } from '../refusals.js';
import { msSince, traceStream } from '../tunnel/trace-stream.js';
import { TunnelKeeper } from '../tunnel/tunnel-keeper.js';

export interface ProxyOptions {
  readonly publish: string;
  readonly proxy: string;
  readonly 'listen-address'?: string | undefined;
  readonly 'wait-timeout': number;
  readonly timeout?: number | undefined;
  readonly 'ready-file'?: string | undefined;
  readonly 'log-format'?: LogFormat | undefined;
  readonly debug: boolean;
  readonly quiet: boolean;
  /** Returns the ports that the daemon would refuse. @throws Error if the daemon does not tell. */
  readonly refusedPorts: (
    ports: readonly PublishedPort[],
    signal: AbortSignal,
  ) => Promise<readonly HostPort[]>;
}

/** Time limit for the verdicts on the ports, without which the tunnel works, too. */
const VERDICTS_MS = 1000;
/** Maximum time that a connection waits while the tunnel is down; a restart of the daemon takes less. */
const HELD_MS = 10_000;
/** Time that open connections may continue after a signal. */
const DRAIN_MS = 5000;
const SHOW_AFTER_MS = 2000;
const SHOWN_PORTS = 16;
const TOO_OLD =
  'cannot publish UDP ports: the daemon is too old to carry UDP. Upgrade it, or publish only TCP ports';
/** The highest limit that a daemon can have, so that only the daemon's config limits the streams. */
const MOST_STREAMS = 16_384;

export async function proxyPorts(options: ProxyOptions): Promise<number> {
  const log = new ClientLog(options);
  try {
    return await proxy(options, log);
  } catch (error) {
    const isJson = options['log-format'] === 'json';
    if (!isJson || isUsageError(error) || !(error instanceof Error)) throw error;
    const exitCode = error instanceof CommandError ? error.exitCode : EXIT.client.failed;
    log.fatal(error.message, { exitCode, ...(options.debug && { stack: error.stack }) });
    return exitCode;
  }
}

async function proxy(options: ProxyOptions, log: ClientLog): Promise<number> {
  const ports = readPublished(options.publish);
  const address = readAddress(options['listen-address']);
  // Fails at once for an invalid pipe name instead of waiting for it.
  resolvePipePath(options.proxy);
  const readyFile = new ReadyFile(options['ready-file'], (text) => log.warn(text));
  readyFile.prepare();
  const refusals = new Refusals((text, fields) => log.warn(text, fields));
  const attempt = {
    pipe: options.proxy,
    log,
    timeoutMs: options.timeout ?? CONNECT_TIMEOUT_MS,
    // Checked at the first tunnel only, because later tunnels forward the same ports.
    judge: (hasOwnNetwork: boolean): void => {
      if (isFirst && hasOwnNetwork) assertNoLoop(ports, address);
    },
    needsUdp: () => isFirst && ports.some(({ protocol }) => protocol === 'UDP'),
  };
  using waiting = showProgress(`waiting for the daemon on pipe "${options.proxy}"`, {
    afterMs: SHOW_AFTER_MS,
    quiet: options.quiet,
  });
  let isFirst = true;
  // A client that may not ask, or asks an older daemon, learns of it by the first connection.
  const warnOfRefused = async (): Promise<void> => {
    const verdicts = options.refusedPorts(ports, AbortSignal.timeout(VERDICTS_MS));
    const refused = new TunnelError('connectRefused', 'refused', { rule: 'port-not-listed' });
    for (const { protocol, hostPort } of await verdicts.catch(() => []))
      refusals.look(hostPort, refused, protocol);
  };
  const keeper = new TunnelKeeper({
    open: async (signal) => {
      const tunnel = await openTracedTunnel({ ...attempt, signal });
      waiting[Symbol.dispose]();
      if (isFirst) await warnOfRefused();
      return tunnel;
    },
    heldMs: HELD_MS,
    onUp: () => {
      log.info(isFirst ? `the tunnel is ready: ${describePorts(ports)}` : 'the tunnel is back', {
        ports,
      });
      if (!isFirst) refusals.forget();
      isFirst = false;
      readyFile.write();
    },
    onLost: (end) => {
      readyFile.remove();
      log.warn(
        `the tunnel is lost: ${describeEnd(end)}; reconnecting, new connections wait ` +
          `up to ${HELD_MS / 1000} s (is the daemon running?)`,
        { reason: end.reason },
      );
    },
    onRefused: (port, error) => refusals.look(port, error),
    onStream: (stream, port) => {
      stream.once('error', (error) => refusals.look(port, error));
      traceStream(log, stream, port);
    },
  });
  const listeners: TcpListener[] = [];
  const udpListeners: UdpListener[] = [];
  const addresses = new LocalAddresses();
  let told: readonly string[] = [];
  const tellProblems = (): void => {
    const problems = udpListeners.flatMap((listener) => listener.problems);
    for (const problem of problems) if (!told.includes(problem)) log.warn(problem);
    told = problems;
  };
  using shutdown = listenForSignals();
  try {
    for (const port of ports) {
      if (port.protocol === 'UDP') {
        const { hostPort } = port;
        const udpListener = await publishUdpPort(port, address, {
          open: (events) => keeper.openFlow(hostPort, events),
          onRefused: (error) => refusals.look(hostPort, error, 'UDP'),
          addresses,
          onProblems: tellProblems,
        });
        udpListeners.push(udpListener);
        tellProblems();
        continue;
      }
      const listener = await publishPort(port, address, {
        open: (connection) => keeper.connect(port.hostPort, connection),
        maxConnections: MOST_STREAMS,
        onRefused: (error) => refusals.lookHere(port.containerPort, error),
      });
      listeners.push(listener);
    }
    await Promise.race([keeper.start(options['wait-timeout']), shutdown.requested]);
    await shutdown.requested;
    // Now, because new connections are refused while open ones may continue.
    readyFile.remove();
    // A connection may close while the tunnel still sends its last bytes.
    const drained = [keeper.drain(), ...listeners.map((listener) => listener.drain())];
    await within(DRAIN_MS, Promise.all(drained));
    return EXIT.client.ok;
  } catch (error) {
    throw explain(error);
  } finally {
    await Promise.all([...listeners, ...udpListeners].map((listener) => listener.close()));
    await keeper.close();
    // Removed again, because `onUp` may write the file until the keeper is closed.
    readyFile.remove();
  }
}

interface TunnelAttempt extends TunnelPipe {
  readonly log: ClientLog;
  /** `hasOwnNetwork`: true when the daemon is on this process's own network. May throw to end the tunnel. */
  readonly judge: (hasOwnNetwork: boolean) => void;
  /** Returns true if the daemon must be able to relay UDP. */
  readonly needsUdp: () => boolean;
}

async function openTracedTunnel(attempt: TunnelAttempt) {
  const { pipe, timeoutMs, signal, log, judge, needsUdp } = attempt;
  const beganAt = performance.now();
  log.debug('connecting to the tunnel pipe', { pipe });
  try {
    const target = { pipe, timeoutMs, signal };
    const tunnel = await openWebSocket(target, (webSocket, localConnection, hasOwnNetwork) => {
      judge(hasOwnNetwork);
      return openTunnel(webSocket, {
        signal,
        localConnection,
        maxStreams: MOST_STREAMS,
        onPeerNeverPauses: () =>
          log.info(
            'this release of the daemon cannot pause a single stream: a slow reader delays the others',
          ),
      });
    });
    const isAnswered = await within(timeoutMs, tunnel.probe());
    if (isAnswered !== true) {
      await tunnel.close();
      if (isAnswered === undefined) throw handshakeTimeout(pipe, timeoutMs);
      throw new Error(`no tunnel on pipe "${pipe}": ${describeEnd(await tunnel.closed)}`);
    }
    if (needsUdp() && !tunnel.carriesDatagrams) {
      await tunnel.close();
      throw new CommandError(TOO_OLD, EXIT.client.failed);
    }
    log.debug('connected', { ms: msSince(beganAt) });
    return tunnel;
  } catch (error) {
    log.debug('not connected', { ms: msSince(beganAt), problem: messageOf(error) });
    throw error;
  }
}

function readPublished(text: string): PublishedPort[] {
  try {
    return parsePublished(splitListValue(text));
  } catch (cause) {
    throw new UsageError(`--publish: ${messageOf(cause)}`, { cause });
  }
}

function readAddress(text: string | undefined): string | undefined {
  if (text === undefined || isIP(text) !== 0) return text;
  throw new UsageError(
    `--listen-address: "${text}" is not an IP address; wanted one such as 127.0.0.1 or ::1`,
  );
}

function explain(error: unknown): unknown {
  if (isUsageError(error) || error instanceof CommandError || !(error instanceof Error))
    return error;
  if (error instanceof PipeError) return pipeFailure(error);
  return new CommandError(error.message, EXIT.client.failed, { cause: error });
}

function describePorts(ports: readonly PublishedPort[]): string {
  const shown = ports.slice(0, SHOWN_PORTS).map(({ protocol, containerPort, hostPort }) => {
    const udp = protocol === 'UDP' ? 'UDP ' : '';
    return `${udp}port ${containerPort} forwards to host ${udp}port ${hostPort}`;
  });
  const hidden = ports.length - shown.length;
  return shown.join(', ') + (hidden > 0 ? `, and ${hidden} more` : '');
}

function describeEnd(end: TunnelEnd): string {
  switch (end.reason) {
    case 'failed':
      return end.error.message;
    case 'peer-closed':
      return `the daemon closed it${end.text === '' ? '' : ` (${end.text})`}`;
    case 'closed':
    case 'aborted':
      return 'this command closed it';
  }
}

/** Undefined when the limit is reached first. */
async function within<T>(limitMs: number, task: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  const first = await Promise.race([task, late]);
  clearTimeout(timer);
  return first;
}

/** The first signal requests an orderly end; the second ends the program at once. */
function listenForSignals(): Disposable & { readonly requested: Promise<void> } {
  let request: () => void = () => undefined;
  const requested = new Promise<void>((resolve) => (request = resolve));
  const interruptions = listenForInterruptions(() => request());
  return { requested, [Symbol.dispose]: () => interruptions[Symbol.dispose]() };
}
