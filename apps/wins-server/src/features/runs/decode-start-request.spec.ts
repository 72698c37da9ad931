import { RunExposeProtocol } from '@wins/wins-api';
import { ProcessStartRequest, wholeStartRequest } from '@wins/wins-api/contract';
import { decodeExactly, decodeStartRequest } from './decode-start-request.js';

const REQUEST = wholeStartRequest({
  path: '/opt/tool',
  args: ['a', '', 'ä'.repeat(200)],
  envs: ['A=1'],
  exposes: [{ port: 80, protocol: RunExposeProtocol.UDP }],
  checksumSha256: 'ab'.repeat(32),
});

const encoded = (request: Partial<ProcessStartRequest>): Buffer =>
  Buffer.from(ProcessStartRequest.encode({ ...REQUEST, ...request }).finish());

it('decodes what the generated decoder does', () => {
  expect(decodeStartRequest(encoded({}))).toEqual(REQUEST);
  // Unknown fields: a varint, and numbers of eight and four octets.
  const unknown = Buffer.from('f801ffffffffffffffffff01f1010000000000000000f50100000000', 'hex');
  expect(decodeStartRequest(Buffer.concat([unknown, encoded({})]))).toEqual(REQUEST);
});

it('stops at one entry more than a start may have (A50, A51)', () => {
  const many = <T>(entry: T) => Array.from({ length: 100_000 }, () => entry);
  expect(decodeStartRequest(encoded({ args: many('x') })).args).toHaveLength(4097);
  expect(decodeStartRequest(encoded({ envs: many('x') })).envs).toHaveLength(257);
  const { exposes } = decodeStartRequest(
    encoded({ exposes: many({ port: 1, protocol: RunExposeProtocol.TCP }) }),
  );
  expect(exposes).toHaveLength(257);
  const { files } = decodeStartRequest(
    encoded({ files: many({ name: 'a', content: Buffer.from('b') }) }),
  );
  expect(files).toHaveLength(33);
});

it.each(['0b0c', '1aff', '1affffffffffffffffffff', '08', '1d0000', '1a05'])(
  'refuses what is malformed: %s',
  (hex) => {
    expect(() => decodeStartRequest(Buffer.from(hex, 'hex'))).toThrow();
  },
);

// Each request contains a message with a wrong length. By this length, the thousand variables are part of another field and would not be counted.
// The generated decoder nevertheless reads them as variables.
it.each([
  ['reaches beyond its end', '220239017ad00f'],
  ['of limits reaches beyond its end', '420239017ad00f'],
  ['of a file reaches beyond its end', '720239017ad00f'],
  ['of how it is kept reaches beyond its end', '520239017ad00f'],
  ['ends before its end', '22d10f00'],
  ['of limits ends before its end', '42d10f00'],
])('refuses a request in which a message %s, so that no entries hide behind it', (_how, hex) => {
  const message = Buffer.from(hex + '2a00'.repeat(1000), 'hex');
  expect(ProcessStartRequest.decode(message).envs.length).toBeGreaterThan(900);
  expect(() => decodeStartRequest(message)).toThrow('the request is malformed');
});

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
