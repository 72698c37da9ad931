import { mayMove, type StreamState } from './stream/session-stream.js';
import { mayMoveSession, type SessionState } from './session/session-state.js';

const CHANNEL = [
  'open',
  'local-ended',
  'remote-ended',
  'closed',
] as const satisfies readonly StreamState['kind'][];
const SESSION = [
  'open',
  'draining',
  'closing',
  'closed',
] as const satisfies readonly SessionState['kind'][];

describe('the states of a stream', () => {
  it.each([
    ['open', ['local-ended', 'remote-ended', 'closed']],
    ['local-ended', ['local-ended', 'closed']],
    ['remote-ended', ['closed']],
    ['closed', []],
  ] as const)('lead from %s to %j only', (from, to) => {
    expect(CHANNEL.filter((next) => mayMove(from, next))).toEqual(to);
  });
});

describe('the states of a session', () => {
  it.each([
    ['open', ['draining', 'closing', 'closed']],
    ['draining', ['closing', 'closed']],
    ['closing', ['closed']],
    ['closed', []],
  ] as const)('lead from %s to %j only', (from, to) => {
    expect(SESSION.filter((next) => mayMoveSession(from, next))).toEqual(to);
  });
});
