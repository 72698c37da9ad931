/** Makes a folder that looks like a bare Windows node; `$NODE` stands for `C:\`. */
export const BARE_NODE = `umask 022; NODE=$(mktemp -d); cd "$NODE"; export WINS_RUNTIME_DIR="$NODE/run"
mkdir -p Windows/System32; for name in hostname whoami; do cp "$(command -v $name)" Windows/System32/$name.exe; done
touch wins.exe
node -e "require('http').createServer((q, a) => a.end('ok')).listen(10248, '127.0.0.1')" &`;

/** PowerShell commands and their replacements for this system's shell. */
const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/^New-Item -ItemType Directory -Force (.*)$/, 'mkdir -p $1'],
  [/^icacls (\S+) .*$/, 'chmod -R go-w $1'],
  [/^Copy-Item (\S+) (\S+)$/, 'cp $1 $2'],
  [/^Set-Content (\S+) @'\n([^]*)\n'@$/, 'cat > $1 <<END\n$2\nEND'],
  // There is no service manager here, so the shell starts the daemon.
  [/^wins\.exe srv app run --register$/, ':'],
  [
    /^sc\.exe start rancher-wins$/,
    'wins srv app run CONFIG 2> daemon.log & DAEMON=$!; wins cli app info --wait-timeout 10s > info',
  ],
  [/^wins\.exe srv app run --unregister$/, 'kill $DAEMON'],
  [/^wins\.exe ((?:srv|doctor)\b.*)$/, 'wins $1 CONFIG'],
  [/^wins\.exe (cli (?!proxy).*)$/, 'wins $1 --wait-timeout 10s'],
  [/^Start-Process -NoNewWindow wins\.exe '(.*)'$/, 'wins $1 --wait-timeout 10s &'],
  [/^curl\.exe (.*)$/, 'curl $1'],
  [/^kubectl (apply -f|logs) .*$/, ':'],
];

/** Translates PowerShell to shell commands, for a node made by {@link BARE_NODE}. */
export function commandsOfNode(block: string, node = '$NODE'): string {
  const commands = block.trim().match(/^.*@'\n[^]*?\n'@$|^.+$/gm) ?? [];
  return commands
    .map((command) => {
      const known = COMMANDS.find(([pattern]) => pattern.test(command));
      if (known === undefined) throw new Error(`cannot act out ${JSON.stringify(command)}`);
      return command
        .replace(...known)
        .replace('CONFIG', '--config C:\\etc\\rancher\\wins\\config')
        .replaceAll(', C:', ' C:')
        .replace(/C:(\\[\w.-]+)+/g, (path) => node + path.slice(2).replaceAll('\\', '/'));
    })
    .join('\n');
}
