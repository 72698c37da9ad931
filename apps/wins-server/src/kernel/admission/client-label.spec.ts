import { clientLabel } from './client-label.js';

it('keeps the words of a client about itself', () => {
  expect(clientLabel('pod a (wins cli)/12')).toBe('pod a (wins cli)/12');
});

it('has no character of a client in it that steers a terminal or turns words around', () => {
  expect(clientLabel('\u001b[2J\u009b31m\u202e\n')).toBe('\\u001b[2J\\u009b31m\\u202e\\u000a');
});

it('is no longer than 128 characters, escapes included', () => {
  expect(clientLabel('x'.repeat(1_000_000))).toBe(`${'x'.repeat(127)}…`);
  expect(clientLabel('\u009b'.repeat(1_000_000))).toBe(`${'\\u009b'.repeat(21)}…`);
});
