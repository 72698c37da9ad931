import { requireEnd } from './ask-about-debug.js';

it('an answer that is too large is refused with its size and its limit', () => {
  expect(() => requireEnd(16, 16)).not.toThrow();
  expect(() => requireEnd(17, 16)).toThrow(
    expect.objectContaining({
      exitCode: 70,
      message: 'cannot take the answer of the daemon: found 17 bytes and no end; wanted at most 16',
    }) as Error,
  );
});
