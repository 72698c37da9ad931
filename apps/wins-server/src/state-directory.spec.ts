import { stateDirectoryOf } from './kept-directory.js';

it.each([
  ['rancher_wins', '/var/lib/rancher-wins/state/rancher_wins'],
  ['/run/rancher-wins/other', '/var/lib/rancher-wins/state/other'],
  ['/run/x/wins', '/run/x/wins.state'],
])('is on the disk for a pipe of the system, and else beside the socket: %s', (listen, folder) => {
  expect(stateDirectoryOf(listen, 'linux', {})).toBe(folder);
});

it.each([
  ['rancher_wins', 'D:\\data\\rancher\\wins\\state\\rancher_wins'],
  ['npipe:////./pipe/a.b', 'D:\\data\\rancher\\wins\\state\\a%2e;b'],
])('is in ProgramData on Windows: %s', (listen, folder) => {
  expect(stateDirectoryOf(listen, 'win32', { ProgramData: 'D:\\data' })).toBe(folder);
});
