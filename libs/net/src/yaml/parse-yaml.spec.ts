import { parseYaml } from './index.js';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

it('reads text up to its maximum depth, and tells where deeper text exceeds it', () => {
  expect(parseYaml(nested(32), { maxDepth: 32 })).toMatchObject({ documents: [{ errors: [] }] });
  expect(parseYaml(nested(33), { maxDepth: 32 })).toEqual({ exceeds: 'maxDepth', offset: 33 });
});

it('does not count spaces and comments as tokens', () => {
  const text = '# comment\n'.repeat(100);
  const limits = { maxDepth: 9, maxTokens: 20 };
  expect(parseYaml(`${text}a: 1\n`, limits)).toHaveProperty('documents');
  expect(parseYaml(`${text}${'a: 1\n'.repeat(20)}`, limits)).toMatchObject({
    exceeds: 'maxTokens',
  });
});

it('skips the rest of a text with too many faults', () => {
  const { tokens } = parseYaml(`{}${'['.repeat(1000)}`, { maxDepth: 9, maxFaults: 3 }) as {
    readonly tokens: readonly unknown[];
  };
  expect(tokens.length).toBeLessThan(10);
});

it.each(['\n', '\r\n', '\r', '\u0085'])('ends lines with %j', (end) => {
  const parsed = parseYaml(`a: 1${end}b: [`, { maxDepth: 9 });
  if ('exceeds' in parsed) throw new Error(parsed.exceeds);
  const [{ contents, errors }] = parsed.documents;
  expect(contents?.toJSON()).toEqual({ a: 1, b: [] });
  expect(errors).toHaveLength(1);
});

it('has one document for a text without content', () => {
  expect(parseYaml(' # nothing', { maxDepth: 9 })).toMatchObject({
    documents: [{ contents: null }],
  });
});
