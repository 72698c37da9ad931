const BASH = `###-begin-wins-completions-###
_wins_completions() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(wins --get-yargs-completions "\${COMP_WORDS[@]}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _wins_completions wins
###-end-wins-completions-###
`;

const ZSH = `#compdef wins
###-begin-wins-completions-###
_wins_completions() {
  local -a reply
  reply=(\${(f)"$(wins --get-yargs-completions "\${words[@]}" | sed 's/:.*//')"})
  if (( \${#reply} )); then compadd -a reply; else _files; fi
}
compdef _wins_completions wins
###-end-wins-completions-###
`;

const POWERSHELL = `Register-ArgumentCompleter -Native -CommandName wins, wins.exe -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  & wins --get-yargs-completions @words |
    Where-Object { $_ -like "$wordToComplete*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;

/**
 * A script that makes a shell complete the commands and options of `wins`.
 *
 * @param shell - A name or path of a shell: `bash`, `/bin/zsh`, `powershell`, `pwsh`.
 * @returns The script, or undefined when there is none for that shell.
 */
export function completionScript(shell: string): string | undefined {
  const name = shell.replace(/^.*[\\/]/, '').replace(/\.exe$/, '');
  switch (name) {
    case 'bash':
    case 'sh':
      return BASH;
    case 'zsh':
      return ZSH;
    case 'powershell':
    case 'pwsh':
      return POWERSHELL;
    default:
      return undefined;
  }
}
