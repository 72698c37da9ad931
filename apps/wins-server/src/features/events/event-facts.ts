import type { EventFacts } from '../../kernel/events/ring-files.js';
import type { DaemonEvent } from '../../kernel/daemon-events.js';

export interface KeptEvent {
  readonly type: string;
  readonly facts: EventFacts;
  /** Name of the rate limit that this event shares with similar events. Absent if clients cannot cause the event at will. */
  readonly share?: string;
}

const CLIENT = /^(?:pipe|tunnel):/;
/** Actions that every run causes besides its start and end. They are not stored if the verdict is `allowed`. */
const ROUTINE: ReadonlySet<string> = new Set(['keepAlive', 'wait', 'updateFile']);

/** Each fact is copied by name, here or at its source, so that a new field cannot leak secrets such as arguments. */
export function keptEvent(event: DaemonEvent): KeptEvent | undefined {
  switch (event.type) {
    case 'decided':
      return decision(event);
    case 'run':
      return run(event);
    case 'call':
      return undefined;
    case 'connection': {
      if (event.phase !== 'refused') return undefined;
      const { pipe, rule } = event;
      return { type: 'connectionRefused', facts: { pipe, rule }, share: 'connections' };
    }
    case 'tunnel': {
      const { session } = event;
      const reason = event.phase === 'ended' ? event.reason : undefined;
      const type = event.phase === 'ended' ? 'tunnelEnded' : 'tunnelOpened';
      return { type, facts: { session, reason }, share: 'tunnels' };
    }
    case 'stream': {
      if (event.phase === 'connected') return undefined;
      const { port } = event;
      if (event.phase === 'slow') return { type: 'connectSlow', facts: { port }, share: 'streams' };
      const { code } = event;
      const type = event.phase === 'failed' ? 'connectFailed' : 'streamCut';
      return { type, facts: { port, code }, share: 'streams' };
    }
    case 'configReloaded': {
      const { result, changed, why, dropped } = event;
      const facts = { result, changed: changed.join(' '), why, dropped: dropped?.join(' ') };
      return { type: 'configReloaded', facts };
    }
    case 'configLost':
      return { type: 'configLost', facts: { keys: event.keys.join(' ') } };
    case 'kept':
      return { type: event.event, facts: event.facts };
    case 'condition': {
      const { check, code, level, subject } = event.condition;
      const type = event.phase === 'began' ? 'conditionBegan' : 'conditionEnded';
      // Its text may quote the output of a program.
      return { type, facts: { check, code, level, about: subject }, share: 'conditions' };
    }
    case 'auditLost':
      return { type: 'auditLost', facts: { count: event.count }, share: 'auditLost' };
    case 'stall':
      return { type: 'stall', facts: { lateMs: Math.round(event.lateMs) }, share: 'stalls' };
  }
}

function decision({ decision }: Extract<DaemonEvent, { type: 'decided' }>): KeptEvent | undefined {
  const { action, verdict } = decision;
  if (verdict === 'allowed' && ROUTINE.has(action)) return undefined;
  const { requester, traceId, mark, path, name, port, code, rule, outcome } = decision;
  const { source, checksum, attempt } = decision;
  const about = { path, name, port, code, rule, outcome, source, checksum, attempt };
  const client = clientText(decision.client);
  const facts = { action, verdict, requester, traceId, mark, client, ...about };
  return { type: 'decided', facts, ...(CLIENT.test(requester) && { share: verdict }) };
}

/** Cached, because a client's description does not change while it is connected. */
const clientTexts = new WeakMap<object, string>();

function clientText(client: object | undefined): string | undefined {
  if (client === undefined) return undefined;
  const known = clientTexts.get(client);
  if (known !== undefined) return known;
  const text = Object.entries(client)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  clientTexts.set(client, text);
  return text;
}

function run({ event }: Extract<DaemonEvent, { type: 'run' }>): KeptEvent {
  const share = 'runs';
  switch (event.type) {
    case 'started': {
      const { mark, name, path, pid, runName: label } = event;
      return { type: 'runStarted', facts: { mark, name, path, pid, label }, share };
    }
    case 'ended': {
      const { mark, name, path, runName: label } = event;
      const { code, signal, reason } = event.exit;
      return { type: 'runEnded', facts: { mark, name, path, reason, code, signal, label }, share };
    }
    case 'startFailed': {
      const { mark, path } = event;
      return { type: 'startFailed', facts: { mark, path }, share };
    }
    case 'treeNotGone':
    case 'outputCutOff': {
      const { mark, name } = event;
      return { type: event.type, facts: { mark, name }, share };
    }
    case 'portsNotOpened': {
      const { mark, path, why } = event;
      return { type: event.type, facts: { mark, path, why }, share };
    }
    case 'filesNotRemoved':
    case 'portsNotClosed':
      return { type: event.type, facts: { mark: event.mark }, share };
    case 'leftoverEnded':
    case 'leftoverNotGone': {
      const { pid, mark, name, path, evidence } = event;
      return { type: event.type, facts: { pid, mark, name, path, evidence } };
    }
    case 'recordIgnored':
      return { type: event.type, facts: { file: event.file } };
  }
}
