import { eventText, LONGEST_EVENT_TEXT } from './event-log.js';

describe('the text of an event', () => {
  it('has the lines that it was given and no others', () => {
    expect(eventText(['ready', 'pid: 7'])).toBe('ready\r\npid: 7');
    expect(eventText(['a\r\nb\nc\0d\u2028e'])).toBe('a\\u000d\\u000ab\\u000ac\\u0000d\\u2028e');
  });

  it('does not turn words around, and holds no half characters', () => {
    expect(eventText(['\u202eexe.txt', '\ud800', 'tag\u{e0041}', '😀'])).toBe(
      '\\u202eexe.txt\r\n\\ud800\r\ntag\\u{e0041}\r\n😀',
    );
  });

  it('has nothing that the event viewer would fill in', () => {
    expect(eventText(['100% of %1 and %%12, %n'])).toBe('100% of \\u00251 and %\\u002512, %n');
  });

  it.each([
    [['a'.repeat(LONGEST_EVENT_TEXT)], 'a'],
    [['a'.repeat(LONGEST_EVENT_TEXT + 1)], '…'],
    [['\n'.repeat(LONGEST_EVENT_TEXT)], '…'],
    [Array.from({ length: 40_000 }, () => 'a'), '…'],
  ])('is never longer than the event log takes', (lines, end) => {
    const text = eventText(lines);
    expect(text.length).toBeLessThanOrEqual(LONGEST_EVENT_TEXT);
    expect(text.at(-1)).toBe(end);
  });
});
