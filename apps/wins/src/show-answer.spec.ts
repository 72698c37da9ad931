import type { Answer } from '@wins/base';
import { render as renderWith, type AnswerTerminal } from './show-answer.js';
import { goJson } from './output/go-json.js';
import { tableOf } from './output/table.js';
import { yamlOf } from './output/yaml.js';
import stringWidth from 'string-width';
import { parse } from 'yaml';

const ANSWER = {
  value: [{ Name: 'a', PID: 7 }],
  table: { headings: ['NAME', 'PID'], rows: [['a', '7']] },
  names: ['a'],
};

const TERMINAL = { isTTY: true, rows: 24 };
const PIPE = { isTTY: false, rows: 0 };

const render = (answer: Answer, form: unknown, terminal: AnswerTerminal) =>
  renderWith(answer, form, terminal, () => ({ stringWidth, yamlOf }));

describe('an answer', () => {
  it('as JSON is what Go writes', () => {
    expect(goJson({ Path: 'a<b>&c\u2028' })).toBe(
      String.raw`{"Path":"a\u003cb\u003e\u0026c\u2028"}`,
    );
  });

  it('is a table at a terminal, and JSON in a pipe', () => {
    expect(render(ANSWER, undefined, TERMINAL)).toBe('NAME  PID\na     7\n');
    expect(render(ANSWER, undefined, PIPE)).toBe('[{"Name":"a","PID":7}]\n');
  });

  it('is what is asked for, wherever it goes, with a line feed at its end', () => {
    expect(render(ANSWER, 'table', PIPE)).toBe('NAME  PID\na     7\n');
    expect(render(ANSWER, 'name', PIPE)).toBe('a\n');
    expect(render(ANSWER, 'json', TERMINAL)).toBe(
      '[\n  {\n    "Name": "a",\n    "PID": 7\n  }\n]\n',
    );
  });

  it('of the original has its very bytes in a pipe', () => {
    const answer = { ...ANSWER, isAsOriginal: true };
    expect(render(answer, 'json', PIPE)).toBe('[{"Name":"a","PID":7}]');
  });

  it('that is one of many takes one line of JSON, also at a terminal', () => {
    expect(render({ value: { a: 1 }, isOneOfMany: true }, 'json', TERMINAL)).toBe('{"a":1}\n');
  });

  it('without a table of its own is a table of its fields when a table is asked for', () => {
    const value = { file: '/etc/x', problems: [{ key: 'a', line: 7 }], none: null };
    expect(render({ value, text: 'for people' }, 'table', PIPE)).toBe(
      'FIELD             VALUE\nfile              /etc/x\nproblems[0].key   a\nproblems[0].line  7\nnone              null\n',
    );
  });

  it('that is renewed is drawn over the one before at a terminal, one row for each line, and is one of many elsewhere', () => {
    const renewed = { ...ANSWER, isRenewed: true };
    expect(render(renewed, undefined, TERMINAL)).toBe(
      '\u001b[?7l\u001b[HNAME  PID\u001b[K\na     7\u001b[K\n\u001b[J\u001b[?7h',
    );
    expect(render(renewed, 'json', TERMINAL)).toBe('[{"Name":"a","PID":7}]\n');
    expect(render(renewed, undefined, PIPE)).toBe('[{"Name":"a","PID":7}]\n');
    expect(render(renewed, 'name', PIPE)).toBe('a\n\n');
  });

  it('that is renewed and longer than the terminal says how much is left out', () => {
    const names = ['a', 'b', 'c', 'd'];
    const drawn = (rows: number): string =>
      render({ value: names, names, isRenewed: true }, 'name', { isTTY: true, rows });
    expect(drawn(5)).toContain('d');
    expect(drawn(4)).toBe(
      '\u001b[?7l\u001b[Ha\u001b[K\nb\u001b[K\n… and 2 more\u001b[K\n\u001b[J\u001b[?7h',
    );
  });

  it('as a table lines up its columns, also below wide characters', () => {
    expect(
      tableOf(
        ['NAME', 'PID'],
        [
          ['日本語.exe', '7'],
          ['e\u0301👍', '8'],
        ],
        { widthOf: stringWidth },
      ),
    ).toBe('NAME        PID\n日本語.exe  7\ne\u0301👍         8\n');
  });

  it('as a table leaves out columns of a terminal that is too narrow, unless all are asked for', () => {
    const table = {
      headings: ['NAME', 'STARTED', 'PATH'],
      rows: [['web', '2026-03-01', '/opt/web']],
      drops: ['PATH', 'STARTED'],
    };
    const drawn = (columns: number | undefined, form?: string): string =>
      render({ value: [], table }, form, { isTTY: true, rows: 24, ...(columns && { columns }) });
    expect(drawn(24)).toBe('NAME  STARTED\nweb   2026-03-01\n');
    expect(drawn(10)).toBe('NAME\nweb\n');
    expect(drawn(1)).toBe('NAME\nweb\n');
    const whole = 'NAME  STARTED     PATH\nweb   2026-03-01  /opt/web\n';
    expect([drawn(26), drawn(undefined), drawn(10, 'wide')]).toEqual([whole, whole, whole]);
  });

  it('cannot control a terminal', () => {
    const value = { Version: '\u009b2J\u007f\u202e' };
    const json = render({ value }, 'json', PIPE);
    expect(json).toBe('{"Version":"\\u009b2J\\u007f\\u202e"}\n');
    expect(JSON.parse(json)).toEqual(value);
    expect(yamlOf({ ...value, 'a\u202e': 'x: y\n- z' })).toMatch(/^[\x20-\x7e\n]*$/);
    expect(parse(yamlOf(value))).toEqual(value);
    expect(tableOf(['A'], [['a\u001b[2Jb\r\n\u202e']], { widthOf: stringWidth })).toBe(
      'A\n' + String.raw`a\u001b[2Jb\u000d\u000a\u202e` + '\n',
    );
  });
});
