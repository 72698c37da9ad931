import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Daemon } from '../testing/daemon.js';
import { say } from '../testing/tunnel/lost-messages.js';
import { readPattern, writePattern } from '../testing/tunnel/pattern.js';
import { until } from '../testing/process-table.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { OPCODE, TunnelFrames } from '../testing/tunnel/tunnel-frames.js';
import { TunnelRelay } from '../testing/tunnel/tunnel-relay.js';
import { Workspace } from '../testing/workspace.js';

const SIZE_BYTES = 200 * 1024 * 1024;

describe('a tunnel that falls silent', () => {
  it.concurrent.each(['daemon', 'client'] as const)(
    'because the %s is stopped for some seconds goes on where it was',
    async (who) => {
      using workspace = new Workspace();
      await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
      await using web = await HostProgram.http((_incoming, response) => {
        void writePattern(response, SIZE_BYTES).then(() => response.end());
      });
      const white_list = { proxyPorts: [echo.port, web.port] };
      await using daemon = await Daemon.start(workspace, workspace.config([], { white_list }));
      // A second client pings every 5 s; its pings are the clock of this test.
      let pings = 0;
      await using relay = await TunnelRelay.start(workspace, daemon, (from) => {
        const frames = new TunnelFrames();
        return (chunk) => {
          const passed = frames.add(chunk);
          if (from === 'client') pings += passed.filter(isPing).length;
          return passed.map(({ bytes }) => bytes);
        };
      });
      const [port = 0, large = 0, clock = 0] = await freePorts(3);
      await using tunnel = await Tunnel.start(
        workspace,
        `TCP:${port}:${echo.port} TCP:${large}:${web.port}`,
      );
      await using second = await Tunnel.start(
        workspace,
        `TCP:${clock}:${echo.port}`,
        '--proxy',
        relay.path,
      );
      const socket = connect(port, '127.0.0.1');
      expect(await say(socket, 'before')).toBe('before');
      const sent = request({ host: '127.0.0.1', port: large, agent: false }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      const received = readPattern(answer);
      const stopped = who === 'daemon' ? daemon.child : tunnel.program.child;
      stopped.kill('SIGSTOP');
      const waiting = say(socket, 'meanwhile');
      const before = pings;
      await until(() => pings >= before + 2);
      stopped.kill('SIGCONT');
      expect(await waiting).toBe('meanwhile');
      expect(await received).toBe(SIZE_BYTES);
      // Wait for one more ping, so that all overdue pings and pongs have arrived.
      const then = pings;
      await until(() => pings > then);
      expect(await say(socket, 'after')).toBe('after');
      socket.destroy();
      for (const { program } of [tunnel, second])
        expect(program.stderr()).not.toContain('the tunnel is lost');
      expect(daemon.log.filter(({ msg }) => msg.startsWith('tunnel '))).toEqual([
        expect.objectContaining({ msg: 'tunnel opened' }),
        expect.objectContaining({ msg: 'tunnel opened' }),
      ]);
    },
  );
});

function isPing({ opcode }: { readonly opcode: number }): boolean {
  return opcode === OPCODE.ping;
}
