import { TunnelError, type TunnelErrorCode, type TunnelErrorDetails } from '@wins/tcp-tunnel';
import { Refusals } from './refusals.js';

describe('a refused port', () => {
  const lines: string[] = [];
  let refusals: Refusals;
  beforeEach(() => {
    lines.length = 0;
    refusals = new Refusals((text) => lines.push(text));
  });
  const look = (port: number, code: TunnelErrorCode, fields: TunnelErrorDetails = {}) =>
    refusals.look(port, new TunnelError(code, 'cannot open the stream', fields));

  it('is told once for each tunnel, with what to do', () => {
    for (const port of [80, 80, 81]) look(port, 'connectRefused', { rule: 'port-not-listed' });
    expect(lines).toEqual([
      'the daemon refuses host port 80: add it to white_list.proxyPorts of its config',
      'the daemon refuses host port 81: add it to white_list.proxyPorts of its config',
    ]);
    refusals.forget();
    look(80, 'connectRefused', { rule: 'port-not-listed' });
    expect(lines).toHaveLength(3);
  });

  it('is told apart from the one of UDP with that number', () => {
    const error = new TunnelError('connectRefused', 'refused', { rule: 'port-not-listed' });
    refusals.look(53, error, 'UDP');
    refusals.look(53, error);
    refusals.look(54, new TunnelError('noDatagrams', 'the daemon is too old'), 'UDP');
    expect(lines).toEqual([
      'the daemon refuses host UDP port 53: add it to white_list.proxyUdpPorts of its config',
      'the daemon refuses host port 53: add it to white_list.proxyPorts of its config',
      'cannot reach host UDP port 54: the daemon is too old',
    ]);
  });

  it('is told with the rule that refused it, or with the words of a daemon that names none', () => {
    look(1, 'connectRefused', { rule: 'stream-limit' });
    look(2, 'connectRefused', { peerText: 'connect not allowed' });
    expect(lines).toEqual([
      'the daemon refuses host port 1: stream-limit; see its log',
      'the daemon refuses host port 2: connect not allowed; see its log',
    ]);
  });

  it('is not one that merely has no program behind it', () => {
    look(80, 'dialRefused', { peerText: 'connect failed: dialRefused' });
    look(81, 'dialFailed', { peerText: 'dial tcp 127.0.0.1:81: connect: connection refused' });
    expect(lines).toEqual([
      'cannot reach host port 80: nothing listens there; start the program that serves it',
      'cannot reach host port 81: dial tcp 127.0.0.1:81: connect: connection refused; start the program that serves it',
    ]);
  });

  it('is nothing that any other error of a stream tells', () => {
    look(80, 'streamReset', { peerText: 'connection reset' });
    refusals.look(80, new Error('connect not allowed: port-allowed'));
    expect(lines).toEqual([]);
  });

  it('here is told once for each tunnel, beside what the daemon says of a port of that number', () => {
    const full = new TunnelError('tooManyStreams', 'port 80 has 2 connections');
    refusals.lookHere(80, full);
    refusals.lookHere(80, full);
    look(80, 'connectRefused', { rule: 'stream-limit' });
    expect(lines).toEqual([
      'refused a connection to port 80: port 80 has 2 connections',
      'the daemon refuses host port 80: stream-limit; see its log',
    ]);
  });

  it('here is nothing that the end of a tunnel or of its client tells', () => {
    refusals.lookHere(80, new TunnelError('sessionEnded', 'the tunnel has ended'));
    refusals.lookHere(80, new Error('there is no tunnel'));
    expect(lines).toEqual([]);
  });
});
