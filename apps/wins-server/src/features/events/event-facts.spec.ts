import type { EntryName } from '@wins/process-manager';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import { keptEvent } from './event-facts.js';

const CANARY = 'canary-3f9a';

describe('what of an event is kept', () => {
  it('is listed by name, so that a new field of a decision is not kept', () => {
    const decision = {
      ...({ action: 'start', verdict: 'refused', rule: 'A15 not listed' } as const),
      requester: 'pipe:7',
      path: '/opt/tool',
      client: { uid: 1000, pid: 4, deep: { token: CANARY } },
      address: `https://host/x?token=${CANARY}`,
      arguments: [CANARY],
      clientSays: CANARY,
      environment: { TOKEN: CANARY },
    };
    const kept = keptEvent({ type: 'decided', decision });
    expect(kept).toMatchObject({
      type: 'decided',
      share: 'refused',
      facts: { action: 'start', path: '/opt/tool', client: 'uid=1000 pid=4' },
    });
    expect(JSON.stringify(kept)).not.toContain(CANARY);
  });

  it('has no text of an error, which may repeat input of a program', () => {
    const error = new Error(`cannot start: ${CANARY}`);
    const about = { mark: 'm', path: '/opt/tool', entry: 'tool' as EntryName };
    const event = { type: 'startFailed', ...about, error } as const;
    const kept = keptEvent({ type: 'run', event });
    expect(kept).toMatchObject({ type: 'startFailed', facts: { path: '/opt/tool' } });
    expect(JSON.stringify(kept)).not.toContain(CANARY);
  });

  it('is nothing of what is only counted', () => {
    const lease = { action: 'keepAlive', verdict: 'allowed', requester: 'pipe:1' } as const;
    const counted: readonly DaemonEvent[] = [
      { type: 'decided', decision: lease },
      { type: 'call', method: 'unknown', code: 0, ms: 1 },
      { type: 'connection', pipe: 'main', phase: 'opened' },
      { type: 'connection', pipe: 'main', phase: 'closed' },
      { type: 'stream', phase: 'connected', port: 80 },
    ];
    for (const event of counted) expect(keptEvent(event)).toBeUndefined();
  });

  it.each<[DaemonEvent, string, string | undefined]>([
    [
      { type: 'connection', pipe: 'main', phase: 'refused', rule: 'idle' },
      'connectionRefused',
      'connections',
    ],
    [{ type: 'tunnel', phase: 'opened', session: 'tunnel:1' }, 'tunnelOpened', 'tunnels'],
    [{ type: 'stream', phase: 'cut', port: 80, code: 'readerStopped' }, 'streamCut', 'streams'],
    [{ type: 'configReloaded', result: 'rejected', changed: [] }, 'configReloaded', undefined],
    [{ type: 'kept', event: 'csiProxy', facts: { state: 'serving' } }, 'csiProxy', undefined],
    [{ type: 'auditLost', count: 4096 }, 'auditLost', 'auditLost'],
    [{ type: 'stall', lateMs: 700.4 }, 'stall', 'stalls'],
  ])('%j is %s, of the share %s', (event, type, share) => {
    expect(keptEvent(event)).toMatchObject({ type, ...(share !== undefined && { share }) });
    expect(keptEvent(event)?.share).toBe(share);
  });

  it('gives what the daemon itself decides no share: only clients can flood', () => {
    const decision = { action: 'planWrite', verdict: 'allowed', requester: 'plan' } as const;
    expect(keptEvent({ type: 'decided', decision })?.share).toBeUndefined();
  });
});
