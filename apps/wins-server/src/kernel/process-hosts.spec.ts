import type { HostCommand, ProcessHost } from '@wins/base';
import { posixProcessHost } from '../posix.js';
import { withDaemonVariables } from './process-hosts.js';

const HIS = {
  RANCHER_WINS_SERVICE: '/his',
  rancher_wins_service: '/his',
  RANCHER_WINS_RUNTIME_DIR: '/his',
};

describe('what a daemon runs', () => {
  it.each([
    [
      'where that daemon is',
      { service: '/etc/service.json', runtimeDirectory: '/run/a' },
      { RANCHER_WINS_SERVICE: '/etc/service.json', RANCHER_WINS_RUNTIME_DIR: '/run/a' },
    ],
    ['nothing when it is no service', { service: undefined, runtimeDirectory: undefined }, {}],
  ])('is told %s, whatever the client says', async (_, daemon, told) => {
    const started: HostCommand[] = [];
    const host: ProcessHost = {
      ...posixProcessHost(),
      start: (command) => {
        started.push(command);
        return Promise.reject(new Error('not here'));
      },
    };
    const command: HostCommand = {
      mark: 'a',
      lineage: 'b',
      file: '/bin/true',
      argv0: '/bin/true',
      args: [],
      env: { A: '1', ...HIS },
      directory: '/',
      mayBreakAway: false,
    };
    await expect(withDaemonVariables(host, daemon).start(command)).rejects.toThrow('not here');
    expect(started).toEqual([{ ...command, env: { A: '1', ...told } }]);
  });
});
