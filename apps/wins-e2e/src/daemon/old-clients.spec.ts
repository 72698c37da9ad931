import {
  ApplicationInfoResponse,
  HostGetVersionResponse,
  ProcessStartResponse,
  ProcessWaitResponse,
} from '@wins/wins-api/contract';
import { messagesOf, recordedClient } from '@wins/wins-api/testing';
import { release } from 'node:os';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { replay, replayRun } from '../testing/old-go-client.js';
import { Workspace } from '../testing/workspace.js';

describe('the daemon and a Go client of release 0.1.1', () => {
  const workspace = new Workspace();
  // The recorded requests contain "rancher-wins-ngin", because the Go daemon shortened nginx.exe to ngin.
  const program = workspace.script('ngin', 'printf out; printf err >&2; exit 7');
  let daemon: Daemon;
  let address: string;

  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([{ path: program, envs: ['FOO'] }]));
    address = String((await daemon.logged(({ msg }) => msg === 'ready'))['address']);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('answers app info', async () => {
    const answer = (await replay(address, [recordedClient('app-info'), 1])).get(1);
    expect(answer?.status).toBe(0);
    const [message] = messagesOf(answer?.body ?? Buffer.alloc(0));
    expect(ApplicationInfoResponse.decode(message ?? Buffer.alloc(0)).info?.version).toMatch(/^v/);
  });

  it('refuses an unlisted program in the words that the client knows', async () => {
    const answer = (await replay(address, [recordedClient('prc-run-denied'), 1])).get(1);
    expect(answer?.status).toBe(3);
    expect(answer?.message).toMatch(/^invalid path/);
  });

  it('runs a listed program: Start, KeepAlive and Wait, with both outputs', async () => {
    const { path, checksum } = startRequest(program);
    const [started, kept, waited] = await replayRun(address, {
      path,
      checksum,
      dir: workspace.folder,
    });
    expect(kept).toMatchObject({ status: 0 });
    expect(started).toMatchObject({ status: 0 });
    const [response] = messagesOf(started?.body ?? Buffer.alloc(0));
    expect(ProcessStartResponse.decode(response ?? Buffer.alloc(0)).data?.value).toBe(
      'rancher-wins-ngin',
    );
    expect(waited).toMatchObject({ status: 0 });
    const messages = messagesOf(waited?.body ?? Buffer.alloc(0)).map((message) =>
      ProcessWaitResponse.decode(message),
    );
    const text = (arm: 'stdOut' | 'stdErr') =>
      messages
        .flatMap(({ options }) => (options?.$case === arm ? [String(options.value)] : []))
        .join('');
    expect([text('stdOut'), text('stdErr')]).toEqual(['out', 'err']);
    expect(messages.at(-1)?.options).toMatchObject({ $case: 'exit', value: { exitCode: 7 } });
  });

  it('says which release of the system the host has', async () => {
    const answer = (await replay(address, [recordedClient('host-get-version'), 1])).get(1);
    expect(answer?.status).toBe(0);
    const [message] = messagesOf(answer?.body ?? Buffer.alloc(0));
    const { data } = HostGetVersionResponse.decode(message ?? Buffer.alloc(0));
    expect(release().startsWith(`${data?.currentMajorVersionNumber}.`)).toBe(true);
  });

  it('says that there is no HNS, or no such network', async () => {
    const answer = (await replay(address, [recordedClient('hns-get-network-error'), 1])).get(1);
    expect([5, 9]).toContain(answer?.status);
    expect(answer?.message).toMatch(/HNS|nat/);
  });
});
