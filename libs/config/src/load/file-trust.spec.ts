import { distrustReason } from './file-trust.js';

const DAEMON = { uid: 1000, gid: 100 };
const ROOT = { uid: 0, gid: 0 };

it.each([
  ['root, for the daemon', { uid: 0, gid: 0, mode: 0o100644 }, DAEMON],
  ['the reader', { uid: 1000, gid: 100, mode: 0o100600 }, DAEMON],
  ['the reader and its group', { uid: 1000, gid: 100, mode: 0o100664 }, DAEMON],
  ['the reader and root’s group', { uid: 1000, gid: 0, mode: 0o100660 }, DAEMON],
  ['root, for root', { uid: 0, gid: 0, mode: 0o100664 }, ROOT],
  ['root, readable by another group', { uid: 0, gid: 5, mode: 0o100640 }, ROOT],
])('a file that only %s may write is trusted', (_who, file, reader) => {
  expect(distrustReason(file, reader)).toBeUndefined();
});

it.each([
  ['everyone', { uid: 0, gid: 0, mode: 0o100602 }, ROOT, 'everyone'],
  ['another user', { uid: 1000, gid: 0, mode: 0o100600 }, ROOT, 'another user'],
  [
    'another user who could give himself the permission',
    { uid: 1001, gid: 100, mode: 0o100400 },
    DAEMON,
    'another user',
  ],
  ['another group', { uid: 0, gid: 100, mode: 0o100660 }, ROOT, 'another group'],
  ['another group of ours', { uid: 1000, gid: 101, mode: 0o100620 }, DAEMON, 'another group'],
])('a file that %s may write is not', (_who, file, reader, reason) => {
  expect(distrustReason(file, reader)).toContain(reason);
});

it('says mode, owner and group', () => {
  expect(distrustReason({ uid: 7, gid: 8, mode: 0o100644 }, ROOT)).toBe(
    'a file of another user (mode 0644, owner 7, group 8)',
  );
});
