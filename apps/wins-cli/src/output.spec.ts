import { formatTable, goJson, terminalJson } from './output.js';

describe('output', () => {
  it('as JSON is what Go writes', () => {
    expect(goJson({ Path: 'a<b>&c\u2028' })).toBe(
      String.raw`{"Path":"a\u003cb\u003e\u0026c\u2028"}`,
    );
  });

  it('as a table lines up its columns', () => {
    expect(formatTable(['NAME', 'PID'], [['rancher-wins-nginx', '7']])).toBe(
      'NAME                PID\nrancher-wins-nginx  7\n',
    );
  });

  it('cannot steer a terminal', () => {
    const answer = { Version: '\u009b2J\u007f\u202e' };
    expect(terminalJson(answer)).toBe('{"Version":"\\u009b2J\\u007f\\u202e"}\n');
    expect(JSON.parse(terminalJson(answer))).toEqual(answer);
    expect(formatTable(['A'], [['a\u001b[2Jb\r\n\u202e']])).toBe(
      'A\n' + String.raw`a\u001b[2Jb\u000d\u000a\u202e` + '\n',
    );
  });
});
