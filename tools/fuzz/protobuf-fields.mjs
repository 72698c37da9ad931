// Generates protobuf messages as lists of steps. A step is a piece of the message in hexadecimal, usually one field.
const TEXTS = [
  '',
  'x',
  '/bin/true',
  'C:\\x',
  '\u0000',
  '\u001b[31m',
  'é',
  'system:node-admin',
  'A=B',
];

const MOST_REPEATED_DIGITS = 500_000;

/** Encodes a varint, optionally with `more` redundant bytes. */
export function varint(value, more = 0) {
  const octets = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) octets.push(Number(rest & 127n) | 128);
  octets.push(Number(rest));
  for (let count = 0; count < more; count += 1) {
    octets[octets.length - 1] |= 128;
    octets.push(0);
  }
  return Buffer.from(octets);
}

export function generateField(rng, depth = 0) {
  const number = rng.choose([8, () => 1 + rng.below(8)], [1, () => rng.pick([0, 99, 2 ** 29 - 1])]);
  const type = rng.choose([8, () => 2], [3, () => 0], [1, () => rng.pick([1, 3, 4, 5, 6, 7])]);
  const tag = varint(number * 8 + type).toString('hex');
  if (type !== 2) return tag + (type === 0 ? generateNumber(rng) : rng.hex(rng.pick([8, 4, 4, 0])));
  const body = rng.choose(
    [4, () => Buffer.from(rng.pick(TEXTS)).toString('hex')],
    [2, () => rng.hex(rng.below(20))],
    [1, () => '61'.repeat(rng.size())],
    [3, () => (depth < 4 ? rng.list(4, () => generateField(rng, depth + 1)).join('') : '')],
  );
  const length = rng.chance(0.04)
    ? rng.pick([2 ** 31, 2 ** 32 - 1, 2 ** 40, body.length])
    : body.length / 2;
  return tag + varint(length, rng.pick([0, 0, 0, 0, 0, 0, 3])).toString('hex') + body;
}

function generateNumber(rng) {
  const value = rng.pick([0, 1, 2, 127, 128, 65_535, 65_536, 2 ** 31, -1, 2 ** 53, 2n ** 63n]);
  return rng.chance(0.05)
    ? 'ff'.repeat(rng.below(14))
    : varint(value, rng.pick([0, 0, 2, 9])).toString('hex');
}

/** Sometimes repeats one field thousands of times. */
export function generateMessage(rng) {
  const steps = rng.list(12, () => generateField(rng));
  if (rng.chance(0.02)) {
    const field = generateField(rng);
    steps.push(field.repeat(1 + rng.below(Math.min(5000, MOST_REPEATED_DIGITS / field.length))));
  }
  // Deeply nested groups.
  if (rng.chance(0.005)) steps.push(rng.pick(['0b', '13', '9b01']).repeat(rng.below(250_000)));
  if (rng.chance(0.1)) steps.push(rng.hex(rng.below(6)));
  return steps;
}
