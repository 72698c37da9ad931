import type { DaemonAnswer, ServiceControl } from '@wins/service-upgrade';
import { proveService } from './node-parts.js';

const SERVICE = {
  command: { imagePath: '/opt/wins', args: [] },
  state: 'running',
} as const;

/** Checks a service whose daemon gives these answers one after the other, and then none. */
async function reasonOf(isThere: boolean, answers: readonly DaemonAnswer[]): Promise<string> {
  const left = [...answers];
  const query = () => Promise.resolve(isThere ? SERVICE : undefined);
  const checked = proveService(
    {
      service: { name: 'rancher-wins', query } as ServiceControl,
      pipeOf: () => Promise.resolve('/run/wins'),
      probe: () => Promise.resolve(left.shift()),
      // Even the first attempt has less time than `ONE_ANSWER_MS`.
      waitMs: 150,
    },
    [],
    undefined,
  );
  const error: unknown = await checked.catch((error: unknown) => error);
  return error instanceof Error ? error.message : 'the service works';
}

describe('the check of an installed service', () => {
  it('reports a daemon that gives no answer, not a missing service', async () => {
    expect(await reasonOf(true, [])).toContain('found no daemon on the pipe /run/wins');
  });

  it('reports an unhealthy daemon, although the last attempt was too short for an answer', async () => {
    const unhealthy = { version: 'v1.0.0', sha1: '', serving: false };
    expect(await reasonOf(true, [unhealthy])).toContain('found a daemon that is not healthy yet');
  });

  it('reports a missing service', async () => {
    expect(await reasonOf(false, [])).toContain('found no service rancher-wins');
  });
});
