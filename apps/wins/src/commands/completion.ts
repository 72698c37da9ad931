import { EXIT, quoteText, UsageError } from '@wins/base';
import { command } from '../command-line/command.js';
import { oneOf } from '../command-line/option.js';
import { completionScript, SHELLS } from '../command-line/completion/completion-script.js';

export const completion = command({
  name: 'completion',
  summary: 'Print a script for completion in bash, zsh, fish or PowerShell',
  details: `It completes commands, options and values. Install it once, then start a new shell:
  bash         wins completion bash > /etc/bash_completion.d/wins
  zsh          wins completion zsh > "\${fpath[1]}/_wins"
  fish         wins completion fish > ~/.config/fish/completions/wins.fish
  powershell   wins completion powershell >> $PROFILE`,
  page: 'commands.md',
  environment: [['SHELL', 'shell to use if none is given; powershell if unset']],
  positional: {
    name: 'shell',
    describe: 'bash, zsh, fish or powershell',
    isOptional: true,
    choices: SHELLS,
  },
  options: {},
  examples: [['completion bash', 'the script for bash']],
  handler: () => (values) => {
    const shell = values.shell ?? process.env['SHELL'] ?? 'powershell';
    const script = completionScript(shell);
    if (script === undefined)
      throw new UsageError(
        `there is no completion script for ${quoteText(shell)}; wanted ${oneOf(SHELLS)}`,
      );
    process.stdout.write(script);
    return Promise.resolve(EXIT.client.ok);
  },
});
