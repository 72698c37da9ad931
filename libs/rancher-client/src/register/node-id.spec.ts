import fc from 'fast-check';
import { judgeNodeId, newNodeId } from './register-node.js';

describe('a cattle-id', () => {
  it('that is new has 62 hex digits, and no other has it', () => {
    const ids = Array.from({ length: 100 }, newNodeId);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{62}$/);
      expect(judgeNodeId(id)).toEqual({ id });
    }
  });

  it.each([
    ['a', 'a'],
    ['node-1.example_x', 'node-1.example_x'],
    ['a'.repeat(63), 'a'.repeat(63)],
  ])('is valid as %j', (text, id) => {
    expect(judgeNodeId(text)).toEqual({ id });
  });

  it.each([
    ['abc\r\n', 'abc'],
    [' abc\t', 'abc'],
    ['\ufeffabc\n', 'abc'],
  ])('is without what is around it as %j', (text, id) => {
    expect(judgeNodeId(text)).toEqual({ id });
  });

  it.each([
    ['', 'nothing'],
    [' \r\n', 'nothing'],
    ['a'.repeat(64), '64 characters'],
    ['a\r\nb', '"a\\r\\nb"'],
    ['-a', '"-a"'],
    ['a-', '"a-"'],
    ['a/b', '"a/b"'],
    ['ä', '"ä"'],
  ])('is refused as %j', (text, found) => {
    expect(judgeNodeId(text)).toMatchObject({ found });
  });

  it('that is not refused is the value of a label, and valid from then on', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 70 }), (text) => {
        const verdict = judgeNodeId(text);
        if ('found' in verdict) return;
        expect(verdict.id).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/);
        expect(judgeNodeId(verdict.id)).toEqual(verdict);
      }),
    );
  });
});
