import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { errnoOf, messageOf, reasonOf } from './index.js';

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a caught error', () => {
  it('of Node has a code and a message', () => {
    const error = thrownBy(() => readFileSync('/nowhere'));
    expect(errnoOf(error)).toBe('ENOENT');
    expect(messageOf(error)).toBe("ENOENT: no such file or directory, open '/nowhere'");
    expect(reasonOf(error)).toBe('no such file or directory (ENOENT)');
  });

  it('of another realm has them too', () => {
    const error: unknown = runInNewContext('Object.assign(new Error("full"), { code: "ENOSPC" })');
    expect([errnoOf(error), messageOf(error)]).toEqual(['ENOSPC', 'full']);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['text', 'text'],
    [{ code: 5, message: 5 }, '[object Object]'],
    [new TypeError('wrong'), 'wrong'],
  ])('that is %p has no code and says %p', (thrown, message) => {
    expect([errnoOf(thrown), messageOf(thrown)]).toEqual([undefined, message]);
    expect(reasonOf(thrown)).toBe(message);
  });
});
