import { consoleHandlerCode } from './console-handler-code.js';

describe('the code of the console handler', () => {
  const code = consoleHandlerCode(0x1122_3344_5566_7788n, 0x99aa_bbcc_ddee_ff00n);

  it('is these bytes', () => {
    const groups = [
      '83f902730331c0c3',
      '4883ec2848b88877665544332211ffd085c07413',
      'b9ffffffff48b800ffeeddccbbaa99ffd0ebed',
      '4883c428c3',
    ];
    expect(code.toString('hex')).toBe(groups.join(''));
  });

  it.each([
    ['the branch to the notification', 4, '4883ec28'],
    ['the branch to the end', 27, '4883c428c3'],
    ['the jump back to the sleep', 46, 'b9ffffffff'],
  ])('%s lands where it should', (_what, at, target) => {
    const start = at + 1 + code.readInt8(at);
    expect(code.subarray(start).toString('hex').startsWith(target)).toBe(true);
  });
});
