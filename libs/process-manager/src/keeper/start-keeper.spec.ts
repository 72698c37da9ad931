import { startKeeper } from './start-keeper.js';

describe('startKeeper', () => {
  it('rejects with the error of the system when the program cannot be started', async () => {
    const command = { file: '/nonexistent/keeper', args: [], env: {} };

    await expect(startKeeper(command)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
