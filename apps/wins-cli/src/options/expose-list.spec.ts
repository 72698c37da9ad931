import { RunExposeProtocol } from '@wins/wins-api';
import { parseExposes } from './list-value.js';

const { TCP, UDP } = RunExposeProtocol;

describe('the ports to expose', () => {
  it('are single ports and ranges, of TCP and UDP', () => {
    expect(parseExposes(['TCP:80', 'udp:53-54'])).toEqual([
      { port: 80, protocol: TCP },
      { port: 53, protocol: UDP },
      { port: 54, protocol: UDP },
    ]);
  });

  it('count once when they are named twice', () => {
    expect(parseExposes(['TCP:80-81', 'TCP:81'])).toHaveLength(2);
  });

  it.each([
    'SCTP:80',
    '80',
    'TCP:',
    'TCP:0',
    'TCP:65536',
    'TCP:80-',
    'TCP:81-80',
    'TCP:8x',
    'TCP:1:2',
    'TCP:1-2-3',
  ])('cannot be %j, and the error names it', (entry) => {
    expect(() => parseExposes([entry])).toThrow(`"${entry}"`);
  });
});
