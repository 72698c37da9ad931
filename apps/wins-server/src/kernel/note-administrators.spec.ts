import { createLoggerTo } from './log/logger.js';
import type { Caller } from './rpc/connections.js';
import { ADMINISTRATOR } from '../testing/client-identities.js';
import { noteAdministrators } from './admin-pipe.js';

describe('administrators who ask on the main pipe', () => {
  it('are told of once for each client, and for so many clients', () => {
    const lines: string[] = [];
    const logger = createLoggerTo({ debug: false, quiet: false }, { write: (l) => lines.push(l) });
    let label = '';
    const connections = {
      clientOf: () => ADMINISTRATOR,
      ownerOf: () => ({ id: 'pipe:1', label, disconnected: new AbortController().signal }),
    };
    const callers = noteAdministrators(connections, logger, 'rancher_wins_admin');
    for (let n = 0; n < 100; n += 1) {
      label = n % 2 === 0 ? 'wins srv plan' : `client ${n}`;
      callers.administered?.({} as Caller);
    }
    const noted = lines.map((line) => JSON.parse(line) as { client: string; adminPipe: string });
    expect(noted.slice(0, 2)).toMatchObject([
      { client: 'wins srv plan', adminPipe: 'rancher_wins_admin' },
      { client: 'client 1' },
    ]);
    expect(noted).toHaveLength(32);
    expect(new Set(noted.map(({ client }) => client)).size).toBe(32);
  });
});
