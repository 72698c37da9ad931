import { quoteText } from '@wins/wins-program';
import { imageFailed } from '../image-failure.js';
import { isRepository } from '../reference.js';
import { goRegExp } from './go-regexp.js';

/** A name of a repository, and the expression that made it; undefined where none did. */
export interface Rewritten {
  readonly repository: string;
  readonly pattern?: string;
}

/**
 * The first expression that changes the name counts; `$1` and `${name}` stand for groups, as in Go.
 *
 * The expressions are trusted as the file is that they are in: one that takes forever holds up the process.
 *
 * @throws AgentError `imageFailed` for an expression that cannot be used, and for what is no name of a repository then.
 */
export function rewrite(
  repository: string,
  rewrites: Readonly<Record<string, string | null>>,
): Rewritten {
  for (const [pattern, replacement] of Object.entries(rewrites)) {
    const result = replaceAll(repository, goRegExp(pattern), replacement ?? '');
    if (result === repository) continue;
    if (isRepository(result)) return { repository: result, pattern };
    const what = `rewrite the name of an image by ${quoteText(pattern)}`;
    throw imageFailed(what, quoteText(result), 'the name of a repository');
  }
  return { repository };
}

function replaceAll(text: string, expression: RegExp, replacement: string): string {
  let end = -1;
  return text.replace(expression, (...found: unknown[]) => {
    const hasNames = typeof found.at(-1) === 'object';
    const groups = (hasNames ? found.at(-1) : {}) as Readonly<Record<string, unknown>>;
    const match = String(found[0]);
    const offset = Number(found.at(hasNames ? -3 : -2));
    // Nothing behind something that was found is not found again.
    if (match === '' && offset === end) return '';
    end = offset + match.length;
    return replacement.replace(
      /\$(?:(\w+)|\{(\w+)\}|\$)/g,
      (all, bare?: string, braced?: string) => {
        const name = bare ?? braced;
        if (name === undefined) return all.slice(1);
        const value = /^\d+$/.test(name) ? groupAt(found, Number(name), hasNames) : groups[name];
        return typeof value === 'string' ? value : '';
      },
    );
  });
}

/** Behind the groups come the offset, the text, and the groups with names if there are any. */
function groupAt(found: readonly unknown[], index: number, hasNames: boolean): unknown {
  return index < found.length - (hasNames ? 3 : 2) ? found[index] : undefined;
}
