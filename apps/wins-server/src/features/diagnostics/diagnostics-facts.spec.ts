import type { ManagedProcess } from '@wins/process-manager';
import { diagnosticsFacts } from './diagnostics-facts.js';

const openedAt = new Date('2026-03-01T12:00:00Z');
const COUNTS = { receivedBytes: 7, sentBytes: 2 ** 40 };

describe('the facts for a diagnosis', () => {
  it('are who is connected, what the tunnel carries, and what keeps the process alive', () => {
    const connection = { name: 'pipe:1', client: { pid: 42, uid: 0 }, openedAt, calls: 3 };
    const session = { name: 'tunnel:1', client: { container: 'c' }, openedAt, streams: 5 };
    const traffic = { ...COUNTS, pauses: 1, droppedDatagrams: 0 };
    const facts = diagnosticsFacts([{ ...connection, ...COUNTS }], [], [{ ...session, traffic }]);
    expect(facts).toMatchObject({
      connections: [
        {
          name: 'pipe:1',
          client: { pid: 42, account: '0' },
          calls: 3,
          sentBytes: 1_099_511_627_776,
        },
      ],
      streams: [{ client: { container: 'c' }, streams: 5, receivedBytes: 7, pauses: 1 }],
    });
    expect(facts.handles.length).toBeGreaterThan(0);
  });

  it('have neither the id nor the arguments of a run', () => {
    const run = {
      name: 'web',
      mark: 'm',
      path: '/opt/web',
      pid: 7,
      state: { kind: 'running' },
      startedAtMs: openedAt.getTime(),
      owner: { id: 'pipe:1' },
      runId: 'secret',
      args: ['secret'],
    } as unknown as ManagedProcess;
    expect(diagnosticsFacts([], [run], []).runs).toEqual([
      {
        name: 'web',
        mark: 'm',
        path: '/opt/web',
        pid: 7,
        state: 'running',
        startedAt: '2026-03-01T12:00:00.000Z',
        owner: 'pipe:1',
      },
    ]);
  });
});
