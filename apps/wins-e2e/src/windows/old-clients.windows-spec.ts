import {
  ApplicationInfoResponse,
  ProcessStartResponse,
  ProcessWaitResponse,
} from '@wins/wins-api/contract';
import { messagesOf, recordedClient, type Answer } from '@wins/wins-api/testing';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RunningProgram } from '../testing/built-program.js';
import { startRequest } from '../testing/digests.js';
import { replay, replayRun } from '../testing/old-go-client.js';
import { WindowsWorkspace } from './windows-workspace.js';

describe('a Go client of release 0.1.1 on a named pipe', () => {
  const workspace = new WindowsWorkspace();
  // The recorded requests contain "rancher-wins-ngin", because the Go daemon shortened nginx.exe to ngin.
  const program = workspace.program('ngin');
  const script = workspace.script(
    'speak',
    `process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 7;`,
  );
  const address = `\\\\.\\pipe\\${workspace.listen}`;
  let daemon: RunningProgram;

  const firstMessage = (answer: Answer | undefined): Buffer =>
    messagesOf(answer?.body ?? Buffer.alloc(0))[0] ?? Buffer.alloc(0);

  before(async () => {
    daemon = workspace.start(
      'srv',
      'app',
      'run',
      '--config',
      workspace.config([{ path: program, envs: ['FOO'], directories: [workspace.folder] }]),
    );
    await daemon.said('"msg":"ready"');
  });
  after(async () => {
    await workspace.remove();
  });

  it('gets an answer to app info', async () => {
    const answer = (await replay(address, [recordedClient('app-info'), 1])).get(1);
    assert.match(ApplicationInfoResponse.decode(firstMessage(answer)).info?.version ?? '', /^v/);
  });

  it('is refused an unlisted program with the message that it knows', async () => {
    const answer = (await replay(address, [recordedClient('prc-run-denied'), 1])).get(1);
    assert.equal(answer?.status, 3);
    assert.match(answer.message, /^invalid path/);
  });

  it('runs a listed program and hears both outputs and the exit code', async () => {
    const { path, checksum, args } = startRequest(program, [script]);
    // Expose no ports, because Wine has no firewall.
    const change = { path, checksum, args, dir: workspace.folder, exposes: [] };
    const [started, , waited] = await replayRun(address, change);
    assert.equal(started?.status, 0, started?.message);
    const { data } = ProcessStartResponse.decode(firstMessage(started));
    assert.equal(data?.value, 'rancher-wins-ngin');
    const arms = messagesOf(waited?.body ?? Buffer.alloc(0)).map(
      (message) => ProcessWaitResponse.decode(message).options,
    );
    const text = (arm: 'stdOut' | 'stdErr'): string =>
      arms.flatMap((options) => (options?.$case === arm ? [String(options.value)] : [])).join('');
    assert.equal(text('stdOut'), 'out');
    assert.equal(text('stdErr'), 'err');
    const last = arms.at(-1);
    assert.equal(last?.$case === 'exit' && last.value.exitCode, 7);
  });
});
