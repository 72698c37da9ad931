import { messageOf, quoteText } from '@wins/base';
import { imageFailed } from '../image-failure.js';
import { isRepository } from '../reference.js';

export interface Rewritten {
  readonly repository: string;
  readonly pattern?: string;
}

/**
 * Rewrites a repository name by Go's regular expressions, in linear time. The first that changes the name counts; `$1`
 * and `${name}` stand for groups.
 * @throws AgentError `imageFailed` for an invalid expression, or a result that is not a repository name.
 */
export async function rewrite(
  repository: string,
  rewrites: Readonly<Record<string, string | null>>,
): Promise<Rewritten> {
  for (const [pattern, replacement] of Object.entries(rewrites)) {
    const what = `rewrite the name of an image by ${quoteText(pattern)}`;
    const result = replaceAll(repository, await compiled(pattern, what), replacement ?? '');
    if (result === repository) continue;
    if (isRepository(result)) return { repository: result, pattern };
    throw imageFailed(what, quoteText(result), 'the name of a repository');
  }
  return { repository };
}

async function compiled(pattern: string, what: string) {
  const { RE2JS: Go } = await import('re2js');
  try {
    return Go.compile(pattern);
  } catch (error) {
    const found = quoteText(messageOf(error).replace('error parsing regexp: ', ''));
    throw imageFailed(what, found, "a regular expression of Go's", error);
  }
}

type GoRegExp = Awaited<ReturnType<typeof compiled>>;

function replaceAll(text: string, expression: GoRegExp, replacement: string): string {
  const matcher = expression.matcher(text);
  const groupOf = (name: string): string => {
    const index = /^\d+$/.test(name) ? Number(name) : (expression.namedGroups()[name] ?? Infinity);
    return index <= matcher.groupCount() ? (matcher.group(index) ?? '') : '';
  };
  let made = '';
  let end = 0;
  for (let hasFound = false; matcher.find(); hasFound = true) {
    // Go finds no empty match right after another match.
    if (hasFound && matcher.end() === end) continue;
    made += text.slice(end, matcher.start());
    end = matcher.end();
    made += replacement.replace(
      /\$(?:(\w+)|\{(\w+)\}|\$)/g,
      (_all, bare: string | undefined, braced: string | undefined = bare) =>
        braced === undefined ? '$' : groupOf(braced),
    );
  }
  return made + text.slice(end);
}
