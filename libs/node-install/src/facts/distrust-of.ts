import { TrustedFileError, type Distrust } from '@wins/trusted-files';

/** What a judge of a place says; nothing of one that is not there. */
export function distrustOf(judge: () => Distrust | undefined): Distrust | undefined {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}
