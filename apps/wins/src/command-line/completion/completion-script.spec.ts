import { completionScript } from './completion-script.js';

describe('the completion script', () => {
  it.each(['bash', '/usr/bin/zsh', '/usr/bin/fish', 'powershell', 'pwsh.exe'])(
    'asks wins itself in %s',
    (shell) => {
      expect(completionScript(shell)).toMatch(/wins "?--get-completions/);
    },
  );

  it('does not exist for an unknown shell', () => {
    expect(completionScript('tcsh')).toBeUndefined();
  });
});
