import { fileHolders, holdersIn, RM_PROCESS_INFO } from './file-holders.js';

describe('the programs that hold a file', () => {
  it('have the names and ids that the Restart Manager gives', () => {
    const programs = ['Windows Defender', 'a\u001b[2J', ''].map((name, index) =>
      RM_PROCESS_INFO.create({ processId: index + 7, name }),
    );
    const infos = Buffer.concat(programs);
    expect(infos).toHaveLength(3 * 668);
    expect(holdersIn(infos, 3)).toEqual([
      'Windows Defender (process 7)',
      expect.not.stringContaining('\u001b') as string,
      'a program (process 9)',
    ]);
    expect(holdersIn(infos, 1)).toEqual(['Windows Defender (process 7)']);
    expect(holdersIn(infos, 1000)).toHaveLength(3);
  });

  it('are none where nobody can say', async () => {
    expect(await fileHolders('C:\\nowhere')).toEqual([]);
  });
});
