import type { WinsConfig } from '@wins/config';
import type { CommandRunner } from '@wins/process-manager';
import type { AgentEvent, PlanFiles } from '@wins/system-agent';
import type { FileTrust } from '@wins/trusted-files';
import { Backoff } from '@wins/time';
import { messageOf } from '@wins/wins-program';
import { isDeepStrictEqual } from 'node:util';
import type { AuditTrail } from '@wins/audit-log';
import type { Logger } from '../../log/logger.js';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import { actDecision, logAgentEvent } from './agent-log.js';
import { agentSettings, isOff, type AgentOff, type AgentSettings } from './agent-settings.js';
import { features } from '../../load-features.js';
import type { FileFailure, RunningAgent } from './running-agent.js';

/** What the switch works with. */
export interface AgentSwitchOptions {
  readonly logger: Logger;
  readonly audit: Pick<AuditTrail, 'decided' | 'note'>;
  /** Closed with the switch. */
  readonly commands: CommandRunner;
  readonly planFiles: ((failure: FileFailure) => PlanFiles) | undefined;
  readonly trust: FileTrust;
  /** Told what becomes of plans and probes. Default: nobody is told. */
  readonly events?: DaemonEvents;
}

/**
 * Turns the agent on and off, as the config says. Whatever becomes of the agent, the daemon serves: one that cannot start is tried
 * again, ever more slowly.
 */
export class AgentSwitch implements AsyncDisposable {
  readonly #options: AgentSwitchOptions;
  #wanted: AgentSettings | AgentOff = { reason: 'the daemon is starting' };
  #agent: RunningAgent | undefined;
  #failure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 0 });
  // One change at a time, the newest last.
  #changes = Promise.resolve();

  /** Called when `isWell` or `isConnected` may have changed. */
  onChange: () => void = () => undefined;

  constructor(options: AgentSwitchOptions) {
    this.#options = options;
  }

  /** The agent; undefined while there is none. */
  get agent(): RunningAgent | undefined {
    return this.#agent;
  }

  /** Why there is no agent. */
  get reason(): string {
    if (isOff(this.#wanted)) return this.#wanted.reason;
    return this.#failure ?? 'it is starting';
  }

  /** Whether the API server must have a certificate of the authority in the connection info. */
  get isStrict(): boolean {
    return !isOff(this.#wanted) && this.#wanted.isStrict;
  }

  /** False when the agent is on and cannot start, has not reached its server yet, or cannot do what a plan wants. */
  get isWell(): boolean {
    if (this.#agent === undefined) return this.#failure === undefined;
    return this.#agent
      .sources()
      .every(
        ({ Source: source, State: state, Problem: problem }) =>
          problem === '' && (source !== 'remote' || state !== 'starting'),
      );
  }

  /** Whether the server of the plans is connected; undefined while none is to be followed. */
  get isConnected(): boolean | undefined {
    if (isOff(this.#wanted) || this.#wanted.connectionInfoFile === undefined) return undefined;
    const sources = this.#agent?.sources() ?? [];
    return sources.some(
      ({ Source: source, State: state }) =>
        source === 'remote' && !['starting', 'disconnected'].includes(state),
    );
  }

  /** Applies these settings. The same settings again change nothing. */
  apply(config: WinsConfig): void {
    const wanted = agentSettings(config);
    if (isDeepStrictEqual(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#backoff.reset();
    this.#change();
  }

  /** Turns it off for good. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#wanted = { reason: 'the daemon is stopping' };
    this.#change();
    await this.#changes;
    await this.#options.commands.close();
  }

  #change(): void {
    clearTimeout(this.#retry);
    const wanted = this.#wanted;
    this.#changes = this.#changes.then(() => this.#become(wanted));
  }

  async #become(wanted: AgentSettings | AgentOff): Promise<void> {
    const { logger } = this.#options;
    if (this.#agent !== undefined) {
      await this.#agent.close();
      this.#agent = undefined;
      logger.info('no plan is followed any more');
    }
    this.#failure = undefined;
    if (!isOff(wanted)) this.#start(wanted);
    this.onChange();
  }

  #start(settings: AgentSettings): void {
    const { logger, audit, commands, planFiles, trust } = this.#options;
    try {
      this.#agent = features()
        .agent()
        .startAgent({
          ...{ settings, commands, planFiles, trust },
          onAct: async (act) => audit.decided(actDecision(act)),
          onEvent: (event) => this.#told(event),
        });
      this.#backoff.reset();
      const { localPlanDirectory, connectionInfoFile } = settings;
      logger.info(
        { localPlanDirectory, connectionInfoFile },
        'the plans of this node are followed',
      );
    } catch (err) {
      this.#failure = `it cannot start: ${messageOf(err)}`;
      const retryMs = this.#backoff.nextMs();
      logger.error({ err, retryMs }, 'cannot follow the plans of this node');
      if (this.#wanted !== settings) return;
      this.#retry = setTimeout(() => this.#change(), retryMs);
    }
  }

  #told(event: AgentEvent): void {
    const { logger, audit, events } = this.#options;
    logAgentEvent(logger, event);
    if (events !== undefined) publishAgentEvent(events, event);
    if (event.kind === 'probeChanged') {
      const { source, checksum, probe, healthy } = event;
      audit.note('planProbe', { source, checksum, name: probe, healthy });
    }
    if (event.kind === 'stateChanged') this.onChange();
  }
}

function publishAgentEvent(events: DaemonEvents, event: AgentEvent): void {
  if (event.kind === 'passEnded') {
    const { kind: _kind, ...facts } = event;
    events.publish({ type: 'plan', ...facts });
  } else if (event.kind === 'probeChanged') {
    const { kind: _kind, ...facts } = event;
    events.publish({ type: 'probe', ...facts });
  } else if (event.kind === 'stateChanged') {
    events.publish({ type: 'planState', source: event.source, state: event.state.kind });
  }
}
