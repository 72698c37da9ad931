import { addressRow, forwardingRow } from './interface-settings.js';

it('writes an address with its length and interface, over what the system initialized', () => {
  const row = addressRow(7, { bytes: Uint8Array.of(10, 42, 1, 1), prefix: 24 }, (initialized) =>
    initialized.fill(0xee),
  );
  expect(row.toString('hex')).toBe(
    [
      '020000000a2a0101' + '00'.repeat(20),
      // Padding is 0.
      '00'.repeat(4),
      'ee'.repeat(8),
      '07000000' + 'ee'.repeat(16),
      '18ee0000',
      '04000000' + 'ee'.repeat(4),
      'ee'.repeat(8),
    ].join(''),
  );
});

it('changes whether an interface forwards, and nothing else but what Windows wants to be 0', () => {
  const read = Buffer.from(Array.from({ length: 168 }, (_, index) => index));
  const row = forwardingRow(Buffer.from(read), true);
  const padding = [2, 3, 4, 5, 6, 7, 49, 50, 51, 167];
  const changed = [...row.keys()].filter((at) => row[at] !== read[at] && !padding.includes(at));
  expect([changed, row[41], row.readUInt32LE(144)]).toEqual([[41, 144, 145, 146, 147], 1, 0]);
});
