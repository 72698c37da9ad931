import { TunnelError } from '@wins/tcp-tunnel';
import { Refusals } from './refusals.js';

const PREFIX = 'the peer reset the stream: ';

describe('a refused port', () => {
  const lines: string[] = [];
  let refusals: Refusals;
  beforeEach(() => {
    lines.length = 0;
    refusals = new Refusals((text) => lines.push(text));
  });
  const look = (port: number, text: string) => refusals.look(port, new Error(PREFIX + text));

  it('is told once for each tunnel, with what to do', () => {
    for (const port of [80, 80, 81]) look(port, 'connect not allowed: port-allowed');
    expect(lines).toEqual([
      'the daemon refuses host port 80: add it to white_list.proxyPorts of its config',
      'the daemon refuses host port 81: add it to white_list.proxyPorts of its config',
    ]);
    refusals.forget();
    look(80, 'connect not allowed: port-allowed');
    expect(lines).toHaveLength(3);
  });

  it('is told with the rule that refused it, or without when an old daemon gives none', () => {
    look(1, 'connect not allowed: channel-limit');
    look(2, 'connect not allowed');
    expect(lines).toEqual([
      'the daemon refuses host port 1: channel-limit; its log says more',
      'the daemon refuses host port 2; its log says more',
    ]);
  });

  it('is not one that merely has no program behind it', () => {
    look(80, 'dialled the loopback on port 80: nothing listens there');
    expect(lines[0]).toContain('host port 80 cannot be reached: nothing listens there');
  });

  it('is nothing that any other error of a stream tells', () => {
    look(80, 'connection reset');
    expect(lines).toEqual([]);
  });

  it('here is told once for each tunnel, beside what the daemon says of a port of that number', () => {
    const full = new TunnelError('too-many-channels', 'port 80 has 2 connections');
    refusals.lookHere(80, full);
    refusals.lookHere(80, full);
    look(80, 'connect not allowed');
    expect(lines).toEqual([
      'a connection to port 80 was refused here: port 80 has 2 connections',
      'the daemon refuses host port 80; its log says more',
    ]);
  });

  it('here is nothing that the end of a tunnel or of its client tells', () => {
    refusals.lookHere(80, new TunnelError('session-ended', 'the tunnel has ended'));
    refusals.lookHere(80, new Error('there is no tunnel'));
    expect(lines).toEqual([]);
  });
});
