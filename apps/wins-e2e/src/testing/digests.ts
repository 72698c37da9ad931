import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export function startRequest(program: string, args: readonly string[] = []) {
  const bytes = readFileSync(program);
  const hash = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex');
  return {
    path: program,
    args: [...args],
    checksum: hash('sha1'),
    checksumSha256: hash('sha256'),
  };
}
