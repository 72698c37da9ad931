/** The name of the pipe of diagnosis that a daemon of an earlier release has, beside the pipe of that name. */
export function debugPipeOf(listen: string): string {
  return `${listen}_debug`;
}
