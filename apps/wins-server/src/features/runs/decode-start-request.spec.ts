import { RunExposeProtocol } from '@wins/wins-api';
import { ProcessStartRequest, wholeStartRequest } from '@wins/wins-api/contract';
import { decodeExactly } from './decode-start-request.js';

const REQUEST = wholeStartRequest({
  path: '/opt/tool',
  args: ['a', '', 'ä'.repeat(200)],
  envs: ['A=1'],
  exposes: [{ port: 80, protocol: RunExposeProtocol.UDP }],
  checksumSha256: 'ab'.repeat(32),
});

const encoded = (request: Partial<ProcessStartRequest>): Buffer =>
  Buffer.from(ProcessStartRequest.encode({ ...REQUEST, ...request }).finish());

it('decodes exactly, or refuses what it does not know of a request and of its limits', () => {
  const limits = { memoryBytes: 5, cpuMillis: 500, pids: 0 };
  const whole = encoded({ limits, replace: true });
  expect(decodeExactly(whole)).toEqual({ ...REQUEST, limits, replace: true });
  const unknown = [
    // Field 31 of the request, and field 15 of the limits and of how the run is kept.
    Buffer.concat([whole, Buffer.from('f80101', 'hex')]),
    Buffer.concat([encoded({}), Buffer.from('42027801', 'hex')]),
    Buffer.concat([encoded({}), Buffer.from('52027801', 'hex')]),
  ];
  for (const message of unknown)
    expect(() => decodeExactly(message)).toThrow('parts that this daemon does not know');
});
