import { posixFileTrust } from '@wins/trusted-files';
import { FakeClock, createCertificateAuthority } from '@wins/base/testing';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { AgentErrorCode } from '../../agent-error.js';
import { posixPlanFiles } from '../../apply/plan-files.js';
import { createSystemAgent } from '../../create-system-agent.js';
import { connectingStore, readConnectionInfo } from '../../kubernetes/connecting-store.js';
import { secretStore } from '../../kubernetes/secret-store.js';
import { type ApiServer, startApiServer } from '../api-server/start-api-server.js';
import { groupRunner } from '../group-runner.js';
import { readRecording } from './recording.js';

const OTHER = createCertificateAuthority('another-authority').cert;
const CLOSED = '127.0.0.1:1';

interface Failure {
  /** Content of the connection info file; undefined for no file. */
  readonly text: (api: ApiServer) => string | undefined;
  readonly strictTls?: boolean;
  readonly code: AgentErrorCode;
}

/**
 * Start-up failures, each under the name of its action in the recording of the Go agent. Each failure ended the Go agent,
 * except the missing permission: there, the Go agent continued to run.
 */
const FAILURES: Readonly<Record<string, Failure>> = {
  'wrong token': { text: (api) => api.connectionInfo({ token: 'wrong' }), code: 'unauthorized' },
  'CA of another authority': {
    text: (api) => api.connectionInfo({ ca: OTHER }),
    code: 'unreachable',
  },
  'CA of another authority, CATTLE_AGENT_STRICT_VERIFY=true': {
    text: (api) => api.connectionInfo({ ca: OTHER }),
    strictTls: true,
    code: 'unreachable',
  },
  'no CA data': { text: (api) => api.connectionInfo({ ca: null }), code: 'unreachable' },
  'no CA data, strict': {
    text: (api) => api.connectionInfo({ ca: null }),
    strictTls: true,
    code: 'invalidConnection',
  },
  'closed port': {
    text: (api) => api.connectionInfo({ server: `https://${CLOSED}` }),
    code: 'unreachable',
  },
  'plain http server url': {
    text: (api) => api.connectionInfo({ server: `http://${CLOSED}` }),
    code: 'unreachable',
  },
  'kubeconfig garbage': {
    text: ({ namespace, secretName }) =>
      JSON.stringify({ kubeConfig: '[garbage', namespace, secretName }),
    code: 'invalidConnection',
  },
  'role does not allow that secret (403 on list/watch)': {
    text: (api) => api.connectionInfo().replace(api.secretName, 'someone-else'),
    code: 'forbidden',
  },
  'connection info file missing': { text: () => undefined, code: 'invalidConnection' },
};
/** The config reader refuses this scenario, before any agent starts. */
const NOT_OF_THE_AGENT = 'neither local nor remote';

describe('a recorded start of the original agent that fails', () => {
  let folder: string;
  let api: ApiServer;

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'start-')));
    api = await startApiServer();
  });
  afterEach(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  it('is one of those below', () => {
    const recorded = readRecording('auth', '/node', '').actions.map(({ action }) => action);
    const starts = recorded.filter((action) => !/^secret created|^agent /.test(action));
    expect(starts.sort()).toEqual([...Object.keys(FAILURES), NOT_OF_THE_AGENT].sort());
  });

  it.each(Object.entries(FAILURES))(
    '%s: is waited out, told with its reason, and over once what is wrong is mended',
    async (_name, { text, strictTls = false, code }) => {
      api.create(readRecording('auth', folder, '').secretBefore ?? {});
      const file = path.join(folder, 'connection.json');
      const content = text(api);
      if (content !== undefined) writeFileSync(file, content, { mode: 0o600 });
      const clock = new FakeClock();
      const reasons: unknown[] = [];
      let told = (): void => undefined;
      const agent = createSystemAgent({
        workDirectory: path.join(folder, 'work'),
        preserveWorkDirectory: false,
        appliedPlanDirectory: path.join(folder, 'applied'),
        stateDirectory: path.join(folder, 'state'),
        secrets: connectingStore({
          clock,
          readInfo: () => readConnectionInfo(file, posixFileTrust()),
          storeOf: (info) =>
            secretStore(info, { clock, strictTls, systemRoots: () => [OTHER], environment: {} }),
        }),
        clock,
        files: posixPlanFiles(),
        programs: groupRunner(),
        images: { unpack: () => Promise.reject(new Error('there are no images')) },
        onAction: () => Promise.resolve(),
        onEvent: (event) => {
          if (event.kind !== 'stateChanged') return;
          if ('error' in event.state) reasons.push(event.state.error);
          told();
        },
      });
      while (reasons.length === 0) await new Promise<void>((resolve) => (told = resolve));
      expect(reasons).toEqual([expect.objectContaining({ code })]);
      expect(api.requests.filter(({ method }) => method === 'PUT')).toEqual([]);

      writeFileSync(file, api.connectionInfo(), { mode: 0o600 });
      while (agent.status().plans[0]?.state.kind !== 'applied') {
        clock.advance(60_000);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(String(api.data()['success-count'])).toBe('1');
      await agent.close();
    },
  );
});
