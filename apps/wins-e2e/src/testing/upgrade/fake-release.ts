import path from 'node:path';

export type Misbehaviour =
  | 'crashes'
  | 'hangs'
  | 'lies about its version'
  | 'does not serve'
  | 'ignores SIGTERM'
  | 'crashes when asked for its version'
  | 'hangs when asked for its version'
  | 'does not accept the config';

/**
 * Returns a small, fast program that imitates a release: it prints its version, checks the config, serves Info and health on the pipe of its
 * config, and finishes or undoes upgrades at its start. The shell answers commands that need no Node.
 *
 * @param version - Plain characters only.
 * @param upgrade - Command that runs in place of `up`.
 */
export function fakeRelease(version: string, misbehaviour?: Misbehaviour, upgrade = ''): string {
  return `#!/bin/sh
if [ "$1" = up ]; then ${upgrade === '' ? 'exit 64' : `${upgrade} "$@"`}; fi
if [ "$1" = --version ]; then ${VERSION_ANSWERS[misbehaviour ?? ''] ?? `echo "rancher-wins version ${version}"; exit`}; fi
if [ "$2" = config ]; then ${misbehaviour === 'does not accept the config' ? 'echo "out of order" >&2; exit 78' : 'exit'}; fi
exec "${process.execPath}" "${FAKE_DAEMON}" "$0" "${version}" "${misbehaviour ?? ''}" "$@"
`;
}

const FAKE_DAEMON = path.join(__dirname, '..', '..', 'fixtures', 'programs', 'fake-daemon.cjs');
const VERSION_ANSWERS: Readonly<Partial<Record<string, string>>> = {
  'crashes when asked for its version': 'kill -SEGV $$',
  'hangs when asked for its version': 'exec sleep 1000',
};
