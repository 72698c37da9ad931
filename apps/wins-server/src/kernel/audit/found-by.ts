import { TrustedFileError } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/wins-program';

/** What a failure to write says was found. Of a folder that is not trusted, the step of its path and the reason. */
export function foundBy(error: unknown): string {
  if (!(error instanceof TrustedFileError)) return messageOf(error);
  return error.at === error.path ? error.found : `${quoteText(error.at)}: ${error.found}`;
}
