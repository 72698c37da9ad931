import { assertJsonPath, fillJsonPath } from './json-path.js';

const VALUE = {
  items: [
    { name: 'web', limits: { 'memory.bytes': 512 }, startedAt: new Date(0) },
    { name: 'mail', limits: null },
  ],
  isOk: true,
};

describe('an answer with -o jsonpath', () => {
  it.each([
    ['{.items[0].name}', 'web\n'],
    ['.items[-1].name', 'mail\n'],
    ['{.items[*].name}', 'web mail\n'],
    ["{$.items[*]['name']}", 'web mail\n'],
    ["{.items[0].limits['memory.bytes']}", '512\n'],
    ['{.items[0].startedAt}', '1970-01-01T00:00:00.000Z\n'],
    ['{.items[*].limits}', '{"memory.bytes":512} null\n'],
    ['name={.items[0].name}{"\\t"}{.isOk}{"\\n"}', 'name=web\ttrue\n'],
    ["{'}'}{.isOk}", '}true\n'],
    ['{.none}{.items[7]}{.isOk.more}{.toString}', '\n'],
    ['{.items[*].*}', 'web {"memory.bytes":512} 1970-01-01T00:00:00.000Z mail null\n'],
  ])('fills in %s', (template, text) => {
    expect(fillJsonPath(`jsonpath=${template}`, VALUE)).toBe(text);
  });

  it('is the whole value for {.} and {@}', () => {
    expect(fillJsonPath('jsonpath={.}', [1])).toBe('[1]\n');
    expect(fillJsonPath('jsonpath={@}', [1])).toBe('[1]\n');
  });

  it('cannot control a terminal by what a field contains', () => {
    expect(fillJsonPath('jsonpath={.a}', { a: '\u001b[2J' })).toBe('\\u001b[2J\n');
  });

  it.each([
    ['', 'nothing'],
    ['{.a', String.raw`"{" without its end`],
    ['{}', '"{}"'],
    ['{range .items[*]}{.name}{end}', '"range .items[*]"'],
    ['{..name}', '"..name"'],
    ['{.items[?(@.name=="web")]}', String.raw`".items[?(@.name==\"web\")]"`],
    ['{.items[0:2]}', '".items[0:2]"'],
  ])('refuses %s', (template, found) => {
    expect(() => assertJsonPath(`jsonpath=${template}`)).toThrow(
      `found ${found}; wanted {.key}, {['key']}, {[0]}, {[*]} or {"text"} in the template of jsonpath`,
    );
  });

  it('refuses a template of more than 4,096 characters', () => {
    expect(() => assertJsonPath(`jsonpath=${'a'.repeat(4097)}`)).toThrow('4096 characters');
  });
});
