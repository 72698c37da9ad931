/**
 * The name of the pipe of administrators of the daemon with this pipe: `rancher_wins_admin` for `rancher_wins`. Both have the same form, a
 * bare name or a path. No other pipe of the daemon may have it.
 */
export function adminPipeOf(listen: string): string {
  return `${listen}_admin`;
}
