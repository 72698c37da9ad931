import { replaceFile } from '@wins/trusted-files';
import path from 'node:path';
import type { Logger } from '../../kernel/log/logger.js';

/** Values of `--profile`, the same as in the Go release. */
export type ProfileKind =
  | 'none'
  | 'cpu'
  | 'heap'
  | 'goroutine'
  | 'threadcreate'
  | 'block'
  | 'mutex';

export interface ProfileOptions {
  /** Default: `none`. */
  readonly profile?: ProfileKind | undefined;
  /** Default: `wins.cpuprofile` or `wins.heapprofile`. */
  readonly 'profile-output'?: string | undefined;
}

/**
 * Disposal writes the profile, and replaces an earlier file. A failure is only logged.
 * @param folder - Folder for a relative file name; undefined when there is none, as in some services.
 */
export async function startRunProfile(
  { profile: kind = 'none', 'profile-output': output }: ProfileOptions,
  folder: string | undefined,
  logger: Logger,
): Promise<AsyncDisposable> {
  if (kind === 'none') return NOTHING;
  if (kind !== 'cpu' && kind !== 'heap') {
    const found = 'cannot record the profile: this runtime has no profile of this kind';
    logger.warn({ profile: kind }, `${found}. Use cpu or heap`);
    return NOTHING;
  }
  const name = output ?? `wins.${kind}profile`;
  if (folder === undefined && !path.isAbsolute(name)) {
    const wanted = 'there is no safe folder for it. Pass an absolute path with --profile-output';
    logger.error({ profile: kind, name }, `cannot record the profile: ${wanted}`);
    return NOTHING;
  }
  const file = folder === undefined ? name : path.resolve(folder, name);
  try {
    const { startLongProfile } = await import('./recording.js');
    const recording = await startLongProfile(kind);
    logger.info({ profile: kind, file }, 'a profile is recorded, and written when the daemon ends');
    return {
      [Symbol.asyncDispose]: async () => {
        using profile = recording;
        try {
          await replaceFile(file, await profile.finish());
          logger.info({ profile: kind, file }, 'the profile is written');
        } catch (err) {
          logger.error({ err, profile: kind, file }, 'cannot write the profile');
        }
      },
    };
  } catch (err) {
    logger.error({ err, profile: kind }, 'cannot record the profile');
    return NOTHING;
  }
}

const NOTHING: AsyncDisposable = { [Symbol.asyncDispose]: () => Promise.resolve() };
