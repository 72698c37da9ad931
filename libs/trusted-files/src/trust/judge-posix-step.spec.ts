import { judgePosixStep, type PosixFacts, type StepKind } from './judge-posix-step.js';

const ME = 1000;

const facts = (kind: 'file' | 'folder' | 'link', uid: number, mode: number): PosixFacts => ({
  uid,
  mode,
  isFile: () => kind === 'file',
  isDirectory: () => kind === 'folder',
  isSymbolicLink: () => kind === 'link',
});
const folder = (uid: number, mode: number) => facts('folder', uid, 0o040000 | mode);
const file = (uid: number, mode: number) => facts('file', uid, 0o100000 | mode);
const link = (uid: number) => facts('link', uid, 0o120777);

it.each<readonly [string, PosixFacts, StepKind]>([
  ["root's file", file(0, 0o644), 'file'],
  ['our file', file(ME, 0o600), 'file'],
  ['a file with a set-user bit', file(0, 0o4755), 'file'],
  ["root's folder", folder(0, 0o755), 'folder'],
  ['our folder', folder(ME, 0o700), 'folder'],
  ['our private folder', folder(ME, 0o700), 'privateFolder'],
  ["root's folder above", folder(0, 0o755), 'above'],
  ["root's sticky folder above", folder(0, 0o1777), 'above'],
  ["root's link, where links are followed", link(0), 'link'],
  ['what is no link, where links are followed', folder(ME, 0o700), 'link'],
])('%s is trusted', (_what, found, kind) => {
  expect(judgePosixStep(found, kind, ME)).toBeUndefined();
});

it.each<readonly [string, PosixFacts, StepKind, string, string]>([
  ['a file of another user', file(7, 0o644), 'file', 'owned by another user', 'user 7'],
  ["another user's file without any right", file(7, 0), 'file', 'owned by another user', 'user 7'],
  ['a file that everyone may write', file(ME, 0o602), 'file', 'writable by other users', '0602'],
  ['a file that a group may write', file(0, 0o660), 'file', 'writable by other users', '0660'],
  ['a sticky file', file(ME, 0o1757), 'file', 'writable by other users', '1757'],
  ['a folder in the place of a file', folder(ME, 0o700), 'file', 'not a regular file', 'a folder'],
  ['a link in the place of a file', link(ME), 'file', 'symbolic link', 'a symbolic link'],
  ["a link of another user's", link(7), 'link', 'owned by another user', 'user 7'],
  ['a link above', link(0), 'above', 'symbolic link', 'a symbolic link'],
  ['a file above', file(0, 0o644), 'above', 'not a regular file', 'not a folder'],
  ['a sticky folder of a file', folder(0, 0o1777), 'folder', 'writable by other users', '1777'],
  ['a group in a folder', folder(ME, 0o770), 'folder', 'writable by other users', '0770'],
  ['a group in a folder above', folder(ME, 0o770), 'above', 'writable by other users', '0770'],
  ["another user's sticky folder above", folder(7, 0o1777), 'above', 'owned by another', 'user 7'],
  ["another user's folder", folder(7, 0o700), 'folder', 'owned by another user', 'user 7'],
  ["root's private folder", folder(0, 0o700), 'privateFolder', 'owned by another', 'user 0'],
  ['a folder that others may read', folder(ME, 0o750), 'privateFolder', 'open to other', '0750'],
  ['a file in the place of a folder', file(ME, 0o700), 'folder', 'not a directory', 'not a folder'],
])('%s is not trusted', (_what, found, kind, rule, text) => {
  const fault = judgePosixStep(found, kind, ME);
  expect(fault?.rule).toContain(`A7 ${rule}`);
  expect(fault?.found).toContain(text);
  expect(fault?.found).not.toContain('A7');
});

it('never advises to take the mode of a shared folder away, which others need', () => {
  const remedy = (facts: PosixFacts, kind: StepKind) => judgePosixStep(facts, kind, ME)?.remedy;
  expect(remedy(folder(0, 0o1777), 'folder')).toBe('use a folder of your own below it');
  expect(remedy(folder(ME, 0o777), 'folder')).toContain('chmod go-w');
});
