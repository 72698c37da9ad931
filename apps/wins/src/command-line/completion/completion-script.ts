export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

const BASH = `# Install: wins completion bash > /etc/bash_completion.d/wins
_wins_completions() {
  local cur=\${COMP_WORDS[COMP_CWORD]} line word IFS=$'\\n'
  local -a lines
  [[ $cur == '=' ]] && cur=
  mapfile -t lines < <(wins --get-completions "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  COMPREPLY=()
  case \${lines[0]} in
    :files) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")) ;;
    :folders) compopt -o filenames; COMPREPLY=($(compgen -d -- "$cur")) ;;
  esac
  for line in "\${lines[@]:1}"; do
    word=\${line%%$'\\t'*}
    [[ $word == "$cur"* ]] && COMPREPLY+=("$(printf %q "$word")")
  done
}
complete -F _wins_completions wins
`;

const ZSH = `#compdef wins
# Install: wins completion zsh > "\${fpath[1]}/_wins"
_wins() {
  local line
  local -a lines described
  lines=("\${(@f)$(wins --get-completions "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  [[ $PREFIX == -*=* ]] && compset -P '*='
  case \${lines[1]} in
    :files) _files; return ;;
    :folders) _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( \${#described} )) && _describe -t words wins described
}
if [[ \${funcstack[1]} == _wins ]]; then _wins "$@"; else compdef _wins wins; fi
`;

const FISH = `# Install: wins completion fish > ~/.config/fish/completions/wins.fish
function __wins_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l prefix (string match -r -- '^--?[^=]+=' $words[-1])
  set -l typed (string replace -- "$prefix" '' $words[-1])
  set -l lines (wins --get-completions=(count $words) $words 2>/dev/null)
  set -l found $lines[2..-1]
  switch "$lines[1]"
    case :files
      set found (__fish_complete_path "$typed")
    case :folders
      set found (__fish_complete_directories "$typed")
  end
  set -q found[1]; and printf '%s\\n' "$prefix"$found
end
complete -c wins -f -a '(__wins_complete)'
`;

const POWERSHELL = `# Install: wins completion powershell >> $PROFILE
Register-ArgumentCompleter -Native -CommandName wins, wins.exe -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  $kind, $lines = @(& wins "--get-completions=$($words.Count)" @words)
  if ($kind -ne ':words') { return }
  $prefix = if ($wordToComplete -match '^--?[^=]+=') { $Matches[0] } else { '' }
  $found = @($lines | Where-Object { $_ -and "$prefix$_" -like "$wordToComplete*" } | ForEach-Object {
    $word, $what = $_ -split "\`t", 2
    $text = if ($word -match '[^\\w.+@=:-]') { "'" + $word.Replace("'", "''") + "'" } else { $word }
    if (-not $what) { $what = $word }
    [System.Management.Automation.CompletionResult]::new("$prefix$text", $word, 'ParameterValue', $what)
  })
  # Without an answer PowerShell would offer the files here.
  if ($found.Count -eq 0 -and $wordToComplete -ne '') { $wordToComplete } else { $found }
}
`;

/** @param shell - A name or path: `bash`, `/bin/zsh`, `fish`, `powershell`, `pwsh`. @returns Undefined when there is no script for that shell. */
export function completionScript(shell: string): string | undefined {
  const name = shell.replace(/^.*[\\/]/, '').replace(/\.exe$/, '');
  switch (name) {
    case 'bash':
    case 'sh':
      return BASH;
    case 'zsh':
      return ZSH;
    case 'fish':
      return FISH;
    case 'powershell':
    case 'pwsh':
      return POWERSHELL;
    default:
      return undefined;
  }
}
