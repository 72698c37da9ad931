import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Daemon } from '../testing/daemon.js';
import { readPattern, writePattern } from '../testing/tunnel/pattern.js';
import { until } from '../testing/process-table.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { connected, Loss } from '../testing/tunnel/lost-messages.js';
import { TunnelRelay } from '../testing/tunnel/tunnel-relay.js';
import { Workspace } from '../testing/workspace.js';

const SIZE_BYTES = 64 * 1024 * 1024;
describe('a message of the tunnel that gets lost', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  const start = (...programs: readonly HostProgram[]): Promise<Daemon> =>
    Daemon.start(
      workspace,
      workspace.config([], { white_list: { proxyPorts: programs.map(({ port }) => port) } }),
    );

  it('is repeated when it is a Pause, a Resume or an End: every stream comes to its end, whole', async () => {
    await using source = await HostProgram.tcp((socket) => {
      void writePattern(socket, SIZE_BYTES).then(() => socket.end());
    });
    let readOn: () => void = () => undefined;
    const mayRead = new Promise<void>((resolve) => (readOn = resolve));
    await using sink = await HostProgram.http((incoming, response) => {
      void mayRead
        .then(() => readPattern(incoming))
        .then((sizeBytes) => response.end(String(sizeBytes)));
    });
    await using patient = await HostProgram.tcp((socket) => {
      void textOf(socket).then((question) => socket.end(`you said: ${question}`));
    });
    await using daemon = await start(source, sink, patient);
    const loss = new Loss([
      'client pause',
      'client resume',
      'client end',
      'daemon pause',
      'daemon resume',
    ]);
    await using relay = await TunnelRelay.start(workspace, daemon, loss.passing);
    const [down = 0, up = 0, ask = 0] = await freePorts(3);
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${down}:${source.port} TCP:${up}:${sink.port} TCP:${ask}:${patient.port}`,
      '--proxy',
      relay.path,
    );
    const asking = await connected(ask);
    asking.end('what?');
    const sent = request({ host: '127.0.0.1', port: up, method: 'POST', agent: false });
    void writePattern(sent, SIZE_BYTES).then(() => sent.end());
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const unread = await connected(down);
    // The peer misses the lost Pause and keeps sending, so it gets another Pause.
    await until(() => loss.times('client pause') > 1 && loss.times('daemon pause') > 1);
    readOn();
    const [received, answer, reply] = await Promise.all([
      readPattern(unread),
      answered.then(([response]) => textOf(response)),
      textOf(asking),
    ]);
    expect([received, answer, reply]).toEqual([SIZE_BYTES, String(SIZE_BYTES), 'you said: what?']);
    for (const kind of ['client resume', 'client end', 'daemon resume'] as const)
      expect(loss.times(kind)).toBeGreaterThan(1);
    expect(tunnel.program.stderr()).not.toContain('lost');
  });
});
