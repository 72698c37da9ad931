import { stateDirectoryOf } from './kept-directory.js';

it('is beside the socket', () => {
  expect(stateDirectoryOf('/run/x/wins', 'linux')).toBe('/run/x/wins.state');
});

it.each([
  ['rancher_wins', 'D:\\data\\rancher\\wins\\state\\rancher_wins'],
  ['npipe:////./pipe/a.b', 'D:\\data\\rancher\\wins\\state\\a%2eb'],
])('is in ProgramData on Windows: %s', (listen, folder) => {
  expect(stateDirectoryOf(listen, 'win32', { ProgramData: 'D:\\data' })).toBe(folder);
});
