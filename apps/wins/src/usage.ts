/** What `wins --help` prints. */
export const USAGE = `wins: operates the Windows host from inside a Windows container

Usage: wins [--debug] [--quiet] <command>

Commands:
  wins cli          talks to the daemon      (alias: client)
  wins srv          runs the daemon          (alias: server)
  wins up           upgrades the daemon      (alias: upgrade)
  wins doctor       examines this host and the daemon on it; changes nothing
  wins completion   prints a script that completes commands: bash, zsh or powershell

Options:
  --help, -h        says this, or more of a command:  wins cli prc run --help
  --version, -v     says which release this is
  --debug           logs more
  --quiet           logs nothing
`;

/** What `wins completion --help` prints. */
export const COMPLETION_USAGE = `wins completion: prints a script that makes a shell complete commands and options

Usage: wins completion [bash|zsh|powershell]     default: the shell that $SHELL names, else powershell
`;

/** What completes the first word after `wins`. */
export const COMMANDS = 'cli\nsrv\nup\ndoctor\ncompletion\n';
