import { runSystemProgram } from './system-program.js';

it('says that the program is not there where there is no Windows', async () => {
  await expect(runSystemProgram('netsh.exe', [])).rejects.toMatchObject({
    name: 'WindowsError',
    code: 'unavailable',
  });
});
