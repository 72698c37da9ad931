import { render, tableOf } from './show-answer.js';
import { goJson } from './go-json.js';
import { yamlOf } from './yaml.js';
import { parse } from 'yaml';

const ANSWER = {
  value: [{ Name: 'a', PID: 7 }],
  table: { headings: ['NAME', 'PID'], rows: [['a', '7']] },
  names: ['a'],
};

describe('an answer', () => {
  it('as JSON is what Go writes', () => {
    expect(goJson({ Path: 'a<b>&c\u2028' })).toBe(
      String.raw`{"Path":"a\u003cb\u003e\u0026c\u2028"}`,
    );
  });

  it('is a table at a terminal, and JSON in a pipe', () => {
    expect(render(ANSWER, undefined, true)).toBe('NAME  PID\na     7\n');
    expect(render(ANSWER, undefined, false)).toBe('[{"Name":"a","PID":7}]\n');
  });

  it('is what is asked for, wherever it goes, with a line feed at its end', () => {
    expect(render(ANSWER, 'table', false)).toBe('NAME  PID\na     7\n');
    expect(render(ANSWER, 'name', false)).toBe('a\n');
    expect(render(ANSWER, 'json', true)).toBe('[\n  {\n    "Name": "a",\n    "PID": 7\n  }\n]\n');
  });

  it('of the original has its very bytes in a pipe', () => {
    const answer = { ...ANSWER, isAsOriginal: true };
    expect(render(answer, 'json', false)).toBe('[{"Name":"a","PID":7}]');
  });

  it('that is one of many takes one line of JSON, also at a terminal', () => {
    expect(render({ value: { a: 1 }, isOneOfMany: true }, 'json', true)).toBe('{"a":1}\n');
  });

  it('as a table lines up its columns, also below wide characters', () => {
    expect(
      tableOf(
        ['NAME', 'PID'],
        [
          ['日本語.exe', '7'],
          ['e\u0301👍', '8'],
        ],
      ),
    ).toBe('NAME        PID\n日本語.exe  7\ne\u0301👍         8\n');
  });

  it('cannot steer a terminal', () => {
    const value = { Version: '\u009b2J\u007f\u202e' };
    const json = render({ value }, 'json', false);
    expect(json).toBe('{"Version":"\\u009b2J\\u007f\\u202e"}\n');
    expect(JSON.parse(json)).toEqual(value);
    expect(yamlOf({ ...value, 'a\u202e': 'x: y\n- z' })).toMatch(/^[\x20-\x7e\n]*$/);
    expect(parse(yamlOf(value))).toEqual(value);
    expect(tableOf(['A'], [['a\u001b[2Jb\r\n\u202e']])).toBe(
      'A\n' + String.raw`a\u001b[2Jb\u000d\u000a\u202e` + '\n',
    );
  });
});
